// What the programs for Node have in common: as proof.py, in their own language.
"use strict";

const assert = require("node:assert/strict");

const { HOUSE: ADDRESS, MODEL, CALLER, KEY } = process.env;
const PATIENCE_MS = 60_000;

const QUESTION = { role: "user", content: "What is a draft model?" };
const LONG = { role: "user", content: "a b c ".repeat(120_000) };
const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const PLACE = {
  type: "object",
  properties: { city: { enum: ["Seoul", "Lisbon"] }, rainy: { type: "boolean" } },
  required: ["city", "rainy"],
  additionalProperties: false,
};

async function refused(work, kind, fields = {}) {
  await assert.rejects(work, (error) => {
    assert(error instanceof kind, error);
    for (const [name, value] of Object.entries(fields)) assert.equal(error[name], value);
    return true;
  });
}

function isPlace(text) {
  const place = JSON.parse(text);
  assert.deepEqual(Object.keys(place), PLACE.required);
  assert(PLACE.properties.city.enum.includes(place.city) && typeof place.rainy === "boolean", text);
}

/** Until the engine has no request any more: a client that has gone is noticed. */
async function waitUntilQuiet() {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const lines = (await (await fetch(`${ADDRESS}/metrics`)).text()).split("\n");
    if (["running", "waiting"].every((each) => lines.includes(`hunch_requests_${each} 0.0`))) return;
    assert(Date.now() < deadline, "requests that nobody reads go on");
    await new Promise((done) => setTimeout(done, 100));
  }
}

async function showAll(told, ...shows) {
  for (const show of shows) await show();
  console.log(`${told} on Node ${process.version}`);
}

module.exports = {
  ADDRESS, CALLER, CITY, KEY, LONG, MODEL, PLACE, QUESTION, isPlace, refused, showAll, waitUntilQuiet,
};
