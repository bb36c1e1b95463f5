// The Anthropic SDK for Node: streams, tools, schemas, errors, clients that leave.
"use strict";

const assert = require("node:assert/strict");
const Anthropic = require("@anthropic-ai/sdk");
const { VERSION } = require("@anthropic-ai/sdk/version");
const { ADDRESS, CALLER, CITY, KEY, LONG, MODEL, PLACE, QUESTION, ...proof } = require("./proof.cjs");

const { messages } = new Anthropic({ baseURL: ADDRESS, apiKey: "any", maxRetries: 0 });
const caller = new Anthropic({ baseURL: CALLER, authToken: KEY, apiKey: null, maxRetries: 0 });
const asked = { model: MODEL, max_tokens: 20, messages: [QUESTION] };

async function streams() {
  const whole = await messages.create({ ...asked, temperature: 0 });
  const stream = messages.stream({ ...asked, temperature: 0 });
  const heard = [];
  stream.on("text", (piece) => heard.push(piece));
  const last = await stream.finalMessage();
  assert.equal(heard.join(""), whole.content[0].text);
  assert.equal(await stream.finalText(), whole.content[0].text);
  assert.equal(last.stop_reason, whole.stop_reason);
  assert.equal(last.usage.output_tokens, whole.usage.output_tokens);
  assert(last.usage.cache_read_input_tokens > 0);
  const count = await messages.countTokens({ model: MODEL, messages: [QUESTION] });
  assert.equal(count.input_tokens, last.usage.input_tokens + last.usage.cache_read_input_tokens);
}

async function tools() {
  const tool = { name: "weather", description: "Looks.", input_schema: CITY };
  const ask = { ...asked, model: "default", tools: [tool] };
  for (const stream of [false, true]) {
    const first = stream
      ? await caller.messages.stream(ask).finalMessage()
      : await caller.messages.create(ask);
    const call = first.content.find((block) => block.type === "tool_use");
    assert.deepEqual([first.stop_reason, call.input], ["tool_use", { city: "x" }]);
    const result = { type: "tool_result", tool_use_id: call.id, content: "Rain." };
    const turns = [QUESTION, { role: "assistant", content: first.content }, { role: "user", content: [result] }];
    assert.equal((await caller.messages.create({ ...ask, messages: turns })).stop_reason, "end_turn");
  }
}

async function schemas() {
  const form = { ...asked, max_tokens: 60, output_config: { format: { type: "json_schema", schema: PLACE } } };
  proof.isPlace((await messages.create(form)).content[0].text);
  proof.isPlace(await messages.stream(form).finalText());
}

async function errors() {
  for (const stream of [false, true]) {
    await proof.refused(messages.create({ ...asked, model: "claude-9", stream }), Anthropic.NotFoundError);
    await proof.refused(messages.create({ ...asked, messages: [LONG], stream }), Anthropic.BadRequestError);
  }
  const stranger = new Anthropic({ baseURL: CALLER, authToken: "wrong", apiKey: null, maxRetries: 0 });
  await proof.refused(stranger.messages.create(asked), Anthropic.AuthenticationError);
}

async function leave() {
  const body = { ...asked, max_tokens: 20_000, logit_bias: { 2: -100 } };
  await proof.refused(messages.create(body, { signal: AbortSignal.timeout(500) }), Anthropic.APIUserAbortError);
  await proof.waitUntilQuiet();
  const stream = messages.stream(body);
  stream.once("text", () => stream.abort());
  await proof.refused(stream.finalMessage(), Anthropic.APIUserAbortError);
  await proof.waitUntilQuiet();
}

proof.showAll(`anthropic ${VERSION}`, streams, tools, schemas, errors, leave);
