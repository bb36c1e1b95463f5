// The openai package for Node: streams, tools, schemas, errors, clients that leave.
"use strict";

const assert = require("node:assert/strict");
const OpenAI = require("openai");
const { VERSION } = require("openai/version");
const { ADDRESS, CALLER, CITY, KEY, LONG, MODEL, PLACE, QUESTION, ...proof } = require("./proof.cjs");

const client = new OpenAI({ baseURL: `${ADDRESS}/v1`, apiKey: "any", maxRetries: 0 });
const caller = new OpenAI({ baseURL: `${CALLER}/v1`, apiKey: KEY, maxRetries: 0 });
const chat = client.chat.completions;

async function streams() {
  const asked = { model: MODEL, messages: [QUESTION], max_tokens: 20, temperature: 0 };
  const whole = await chat.create(asked);
  const chunks = [];
  const options = { stream: true, stream_options: { include_usage: true } };
  for await (const chunk of await chat.create({ ...asked, ...options })) chunks.push(chunk);
  const said = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  assert(said && said === whole.choices[0].message.content);
  assert.deepEqual(chunks.at(-1).usage.completion_tokens, whole.usage.completion_tokens);
  assert.equal(await chat.stream(asked).finalContent(), said);
  const response = await client.responses
    .stream({ model: MODEL, input: [QUESTION], max_output_tokens: 20, temperature: 0 })
    .finalResponse();
  assert.equal(response.output_text, said);
  const pieces = await client.completions.create({ model: MODEL, prompt: "A draft", max_tokens: 5, stream: true });
  for await (const piece of pieces) assert.equal(piece.object, "text_completion");
}

/** The package's own loop: it calls our function and sends its result. */
async function tools() {
  const called = [];
  const weather = (given) => called.push(given) && "Rain.";
  const tool = { name: "weather", description: "Looks.", parameters: CITY, parse: JSON.parse, function: weather };
  const asked = { model: "default", messages: [QUESTION], tools: [{ type: "function", function: tool }] };
  for (const stream of [false, true]) {
    assert(await caller.chat.completions.runTools({ ...asked, stream }).finalContent());
  }
  assert.deepEqual(called, [{ city: "x" }, { city: "x" }]);
  const flat = { type: "function", name: "weather", parameters: CITY, strict: false };
  const { output } = await caller.responses.create({ model: "default", input: "How is it?", tools: [flat] });
  assert.deepEqual(JSON.parse(output.find((item) => item.type === "function_call").arguments), { city: "x" });
}

async function schemas() {
  const form = { type: "json_schema", json_schema: { name: "place", schema: PLACE, strict: true } };
  const asked = { model: MODEL, messages: [QUESTION], response_format: form };
  proof.isPlace(JSON.stringify((await chat.parse(asked)).choices[0].message.parsed));
  proof.isPlace(await chat.stream(asked).finalContent());
  const text = { format: { type: "json_schema", name: "place", schema: PLACE } };
  proof.isPlace((await client.responses.create({ model: MODEL, input: "x", text })).output_text);
}

async function errors() {
  for (const stream of [false, true]) {
    const asked = { model: MODEL, messages: [QUESTION], stream };
    await proof.refused(chat.create({ ...asked, model: "gpt-9" }), OpenAI.NotFoundError, { code: "model_not_found" });
    const full = { code: "context_length_exceeded" };
    await proof.refused(chat.create({ ...asked, messages: [LONG] }), OpenAI.BadRequestError, full);
  }
  const stranger = new OpenAI({ baseURL: `${CALLER}/v1`, apiKey: "wrong", maxRetries: 0 });
  await proof.refused(stranger.models.list(), OpenAI.AuthenticationError, { code: "invalid_api_key" });
}

/** By an abort before the first byte, by one in the middle of a stream, and by a loop that is left. */
async function leave() {
  const body = { model: MODEL, messages: [QUESTION], logit_bias: { 2: -100 }, max_tokens: 100_000 };
  const waiting = chat.create(body, { signal: AbortSignal.timeout(500) });
  await proof.refused(waiting, OpenAI.APIUserAbortError);
  await proof.waitUntilQuiet();
  for (const end of [(stream) => stream.controller.abort(), () => {}]) {
    const stream = await chat.create({ ...body, stream: true });
    for await (const _ of stream) {
      end(stream);
      break;
    }
    await proof.waitUntilQuiet();
  }
}

proof.showAll(`openai ${VERSION}`, streams, tools, schemas, errors, leave);
