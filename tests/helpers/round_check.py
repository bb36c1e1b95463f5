"""What the rounds that a reply tells have to add up to."""

from __future__ import annotations

from engine import Finished


def check_rounds(reply: Finished) -> None:
    """Each begins where the one before has ended. Together they are the reply's tokens and its counters, and of a
    draft that was not accepted as a whole, the next token is not what the main model said.
    """
    told, at, rounds = reply.tokens, 0, reply.rounds
    for number, each in enumerate(rounds):
        assert each.position == reply.stats.prompt_tokens + at
        assert 0 <= each.accepted <= len(each.drafted)
        assert bool(each.source) == bool(each.drafted)
        assert each.drafted[: each.accepted] == told[at : at + each.accepted]
        at += each.accepted
        if at == len(told):  # the reply ended within the draft: nothing behind its end counts
            assert number == len(rounds) - 1
            assert each.accepted == len(each.drafted) > 0
        else:
            assert each.drafted[each.accepted : each.accepted + 1] != told[at : at + 1]
            at += 1
    assert at == len(told)
    drafted = [each for each in rounds if each.drafted]
    stats = reply.stats
    assert (len(rounds), len(drafted)) == (stats.rounds, stats.draft_rounds)
    assert sum(len(each.drafted) for each in drafted) == stats.drafted
    assert sum(each.accepted for each in drafted) == stats.accepted
    assert stats.proposer == (drafted[-1].source if drafted else "")
