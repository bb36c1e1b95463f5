"""Which of the models and drafters that people name in public the catalog has, and why it lacks the others.

Every name is written down here with its reason, so that none is forgotten and none is looked up twice.
"""

from __future__ import annotations

import pytest

from engine import load_catalog
from tests.architecture.project import ROOT

NAMED = {  # in public documentation, code and issues, by who publishes them
    "mlx-community": """
        Qwen2.5-7B-Instruct-4bit Qwen2.5-14B-Instruct-4bit Qwen2.5-32B-Instruct-4bit Qwen2.5-72B-Instruct-4bit
        Qwen2.5-72B-Instruct-6bit Qwen2.5-0.5B-Instruct-4bit Qwen2.5-0.5B-Instruct-8bit
        Qwen2.5-Coder-32B-Instruct-4bit Qwen2.5-Coder-0.5B-Instruct-4bit Qwen2.5-Coder-1.5B-Instruct-4bit
        Qwen2.5-Coder-3B-Instruct-4bit
        Qwen3-4B-4bit Qwen3-4B-8bit Qwen3-8B-4bit Qwen3-8B-8bit Qwen3-14B-4bit Qwen3-14B-8bit Qwen3-32B-4bit
        Qwen3-32B-8bit Qwen3-30B-A3B-4bit Qwen3-235B-A22B-4bit Qwen3-0.6B-4bit Qwen3-0.6B-6bit Qwen3-0.6B-bf16
        Qwen3-1.7B-4bit Qwen3-Coder-Next-4bit Qwen3-Next-80B-A3B-Instruct-4bit
        Qwen3.5-0.8B-4bit Qwen3.5-0.8B-8bit Qwen3.5-27B-4bit Qwen3.6-35B-A3B-4bit Qwen3.8-27B-4bit
        Llama-3.1-8B-Instruct-4bit Llama-3.3-70B-Instruct-4bit Llama-3.2-1B-Instruct-4bit Llama-3.2-3B-Instruct-4bit
        DeepSeek-R1-Distill-Qwen-32B-8bit DeepSeek-R1-Distill-Qwen-1.5B-4bit DeepSeek-R1-Distill-Llama-70B-4bit
        DeepSeek-R1-Distill-Llama-8B-4bit
        gemma-3-4b-it-4bit gemma-3-12b-it-4bit gemma-3-27b-it-4bit gemma-3-1b-it-4bit
        gemma-4-31b-it-4bit gemma-4-26b-a4b-it-4bit gemma-4-e2b-it-4bit
        SmolLM-1.7B-Instruct-fp16 SmolLM-135M-Instruct-4bit
        Qwen3.5-4B-MTP-4bit Qwen3.5-9B-MTP-4bit Qwen3.6-27B-MTP-4bit Qwen3.6-35B-A3B-MTP-4bit
        Qwen3.6-35B-A3B-MTP-bf16 Qwen3.8-27B-MTP-4bit Qwen3.8-27B-MTP-8bit Hy3-preview-MTP-4bit
        gemma-4-E2B-it-assistant-bf16 gemma-4-E4B-it-assistant-bf16 gemma-4-12B-it-assistant-bf16
        gemma-4-12B-it-assistant-4bit gemma-4-12B-it-qat-assistant-4bit gemma-4-26B-A4B-it-assistant-bf16
        gemma-4-31B-it-assistant-bf16 NVIDIA-Nemotron-3.5-Lightning-30B-A3B-DSpark-bf16
    """,
    "lmstudio-community": "Qwen2.5-0.5B-Instruct-MLX-8bit",
    "rapid-mlx": "Qwen3.8-27B-4bit-MTP-MLX Qwen3.8-27B-mixed-3.5bpw-MLX",
    "Youssofal": """
        Qwen3.5-4B-MTPLX-Optimized-Speed Qwen3.5-4B-MTPLX-Optimized-Quality Qwen3.5-9B-MTPLX-Optimized-Speed
        Qwen3.5-9B-MTPLX-Optimized-Quality Qwen3.6-27B-MTPLX-Optimized-Speed Qwen3.6-27B-MTPLX-Optimized-Quality
        Qwen3.6-35B-MTPLX-Optimized-Speed Qwen3.6-35B-MTPLX-Optimized-Quality Qwen3.8-27B-MTPLX-Optimized-Speed
        Qwen3.8-27B-MTPLX-Optimized-Quality
    """,
    "Jundot": "Qwen3.6-27B-oQ4-mtp Qwen3.6-27B-oQ6-mtp Qwen3.6-27B-oQ8-mtp",
    "EigenLabs": "Qwen3.8-27B-MTP-bf16",
    "google": """
        gemma-4-E2B-it-assistant gemma-4-E4B-it-assistant gemma-4-12B-it-assistant gemma-4-26B-A4B-it-assistant
        gemma-4-31B-it-assistant
    """,
    "z-lab": """
        Qwen3-4B-DFlash-b16 Qwen3-8B-DFlash-b16 Qwen3.5-4B-DFlash Qwen3.5-9B-DFlash Qwen3.5-27B-DFlash
        Qwen3.5-35B-A3B-DFlash Qwen3.5-122B-A10B-DFlash Qwen3.6-27B-DFlash Qwen3.6-35B-A3B-DFlash
        Qwen3-Coder-30B-A3B-DFlash Qwen3-Coder-Next-DFlash gpt-oss-20b-DFlash gpt-oss-120b-DFlash
        LLaMA3.1-8B-Instruct-DFlash-UltraChat gemma4-12B-it-DFlash gemma-4-31B-it-DFlash Kimi-K2.5-DFlash
        Qwen3.8-27B-DFlash2
    """,
    "incoai": "Qwen3.8-27B-DFlash2 Qwen3.8-27B-DFlash2-GGUF GLM-5.3-Flash-DFlash2",
    "deepseek-ai": """
        dflash_qwen3_4b_block7 dflash_qwen3_8b_block7 dflash_qwen3_14b_block7 dflash_gemma4_12b_block7
        dspark_qwen3_4b_block7 dspark_qwen3_8b_block7 dspark_qwen3_14b_block7 dspark_gemma4_12b_block7
        eagle3_qwen3_4b_ttt7 eagle3_qwen3_8b_ttt7 eagle3_qwen3_14b_ttt7 eagle3_gemma4_12b_ttt7
    """,
    "RedHatAI": """
        Qwen3-8B-speculator.dflash Qwen3-30B-A3B-speculator.dflash Qwen3-30B-A3B-Instruct-2507-speculator.dflash
        gemma-4-31B-it-speculator.dflash Mistral-Small-4-119B-2603.dflash
        Qwen3.6-35B-A3B-speculator.dspark Qwen3.8-27B-speculator.dspark GLM-5.2-speculator.dspark
        Llama-3.1-8B-Instruct-speculator.eagle3 Llama-3.3-70B-Instruct-speculator.eagle3 Qwen3-8B-speculator.eagle3
        Qwen3-14B-speculator.eagle3 Qwen3-32B-speculator.eagle3 Qwen3-30B-A3B-Instruct-2507-speculator.eagle3
        Qwen3-235B-A22B-Instruct-2507-speculator.eagle3 gpt-oss-20b-speculator.eagle3 gpt-oss-120b-speculator.eagle3
        gemma-4-31B-it-speculator.eagle3 gemma-4-26B-A4B-it-speculator.eagle3
    """,
    "poolside": "Laguna-XS Laguna-S",
    "meta-models": "Muse-Glimmer-30B-assistant",
    "RadixArk": "Qwen3.8-27B-DSpark",
    "DimInfer": "Qwen3.8-27B-Dspark-v1",
    "satgeze": "Qwen3.6-27B-DSpark",
    "stanleyphoong": "Ornith-1.0-9B-DSpark",
    "LiquidAI": "LFM2.5-1.2B-Instruct-DSpark LFM2.5-2.6B-DSpark",
    "DaoCloud": "Muse-Glimmer-30B-DSpark",
    "Nanbeige": "Nanbeige4.2-3B-DSpark",
    "openbmb": "MiniCPM5-2B-DSpark",
    "XiaomiMiMo": "MiMo-V2.5-Pro-FP4-DFlash",
    "Inferact": "MiniMax-M3-EAGLE3",
    "yuhuili": """
        EAGLE3-LLaMA3.1-Instruct-8B EAGLE3-LLaMA3.3-Instruct-70B EAGLE3-Vicuna1.3-13B
        EAGLE3-DeepSeek-R1-Distill-LLaMA-8B
    """,
    "AngelSlim": """
        Qwen3-1.7B_eagle3 Qwen3-4B_eagle3 Qwen3-8B_eagle3 Qwen3-14B_eagle3 Qwen3-32B_eagle3 Qwen3-a3B_eagle3
    """,
    "Tengyunw": "qwen3_8b_eagle3 qwen3_30b_moe_eagle3",
    "lmsys": "EAGLE3-gpt-oss-120b-bf16",
    "nvidia": "gpt-oss-120b-Eagle3",
    "thoughtworks": "GLM-4.7-Flash-Eagle3",
}
LACKING = {  # why, and which
    "the same model as Meta-Llama-3.1-8B-Instruct-4bit": "mlx-community/Llama-3.1-8B-Instruct-4bit",
    "the same drafter as incoai/Qwen3.8-27B-DFlash2": "z-lab/Qwen3.8-27B-DFlash2",
    "no safetensors": "incoai/Qwen3.8-27B-DFlash2-GGUF",
    "its main model was trained to be quantized, and is not named": "mlx-community/gemma-4-12B-it-qat-assistant-4bit",
    "the same drafter as mlx-community's in half precision": """
        google/gemma-4-E2B-it-assistant google/gemma-4-E4B-it-assistant google/gemma-4-12B-it-assistant
        google/gemma-4-26B-A4B-it-assistant google/gemma-4-31B-it-assistant
    """,
    "the two may be those that were published as a loss": """
        mlx-community/DeepSeek-R1-Distill-Llama-70B-4bit mlx-community/DeepSeek-R1-Distill-Llama-8B-4bit
    """,
    "names its parts as no dialect that is read does": "meta-models/Muse-Glimmer-30B-assistant",
    "its main model is of a kind that mlx-lm does not have": """
        mlx-community/Hy3-preview-MTP-4bit incoai/GLM-5.3-Flash-DFlash2
    """,
    "whether its head, in a folder within the model's, has a config is not told": """
        rapid-mlx/Qwen3.8-27B-4bit-MTP-MLX
    """,
    "its name does not tell that the drafters of Qwen3.8-27B are made for it": "rapid-mlx/Qwen3.8-27B-mixed-3.5bpw-MLX",
    "how many bits it takes is not told": """
        Youssofal/Qwen3.5-4B-MTPLX-Optimized-Speed Youssofal/Qwen3.5-4B-MTPLX-Optimized-Quality
        Youssofal/Qwen3.5-9B-MTPLX-Optimized-Speed Youssofal/Qwen3.5-9B-MTPLX-Optimized-Quality
        Youssofal/Qwen3.6-27B-MTPLX-Optimized-Speed Youssofal/Qwen3.6-27B-MTPLX-Optimized-Quality
        Youssofal/Qwen3.6-35B-MTPLX-Optimized-Speed Youssofal/Qwen3.6-35B-MTPLX-Optimized-Quality
        Youssofal/Qwen3.8-27B-MTPLX-Optimized-Speed Youssofal/Qwen3.8-27B-MTPLX-Optimized-Quality
        Jundot/Qwen3.6-27B-oQ4-mtp Jundot/Qwen3.6-27B-oQ6-mtp Jundot/Qwen3.6-27B-oQ8-mtp
    """,
    "whether its config says that it is a head is not told": "EigenLabs/Qwen3.8-27B-MTP-bf16",
    "the drafter's full name is not told": "poolside/Laguna-XS poolside/Laguna-S",
    "its main model is larger than the memory of any Mac, or nothing but its name is known": """
        z-lab/Kimi-K2.5-DFlash XiaomiMiMo/MiMo-V2.5-Pro-FP4-DFlash RedHatAI/GLM-5.2-speculator.dspark
        Inferact/MiniMax-M3-EAGLE3 stanleyphoong/Ornith-1.0-9B-DSpark Nanbeige/Nanbeige4.2-3B-DSpark
        yuhuili/EAGLE3-Vicuna1.3-13B RedHatAI/Qwen3-235B-A22B-Instruct-2507-speculator.eagle3
    """,
    "how many parameters it has is not told": """
        z-lab/Qwen3.5-122B-A10B-DFlash openbmb/MiniCPM5-2B-DSpark RedHatAI/Qwen3.6-35B-A3B-speculator.dspark
        RedHatAI/Qwen3-8B-speculator.dflash RedHatAI/Qwen3-30B-A3B-speculator.dflash
        RedHatAI/Qwen3-30B-A3B-Instruct-2507-speculator.dflash RedHatAI/gemma-4-31B-it-speculator.dflash
        RedHatAI/Llama-3.1-8B-Instruct-speculator.eagle3 RedHatAI/Qwen3-8B-speculator.eagle3
        RedHatAI/Qwen3-14B-speculator.eagle3 RedHatAI/Qwen3-32B-speculator.eagle3
        RedHatAI/Qwen3-30B-A3B-Instruct-2507-speculator.eagle3 nvidia/gpt-oss-120b-Eagle3
        yuhuili/EAGLE3-LLaMA3.1-Instruct-8B yuhuili/EAGLE3-LLaMA3.3-Instruct-70B
        yuhuili/EAGLE3-DeepSeek-R1-Distill-LLaMA-8B
        AngelSlim/Qwen3-1.7B_eagle3 AngelSlim/Qwen3-4B_eagle3 AngelSlim/Qwen3-8B_eagle3 AngelSlim/Qwen3-14B_eagle3
        AngelSlim/Qwen3-32B_eagle3 AngelSlim/Qwen3-a3B_eagle3 Tengyunw/qwen3_8b_eagle3 Tengyunw/qwen3_30b_moe_eagle3
    """,
}


@pytest.fixture(scope="module")
def entries() -> set[str]:
    catalog = load_catalog(ROOT / "resources" / "catalog.json")
    return {model.repository for model in catalog.models} | {draft.repository for draft in catalog.drafts}


def test_every_name_that_people_use_is_in_the_catalog_or_has_a_reason(entries: set[str]) -> None:
    named = [f"{owner}/{name}" for owner, names in NAMED.items() for name in names.split()]
    lacking = [name for names in LACKING.values() for name in names.split()]
    assert len(set(named)) == len(named)
    assert len(set(lacking)) == len(lacking)
    assert set(lacking) <= set(named)
    assert set(lacking) & entries == set()
    assert set(named) - entries - set(lacking) == set()
