// Operations of a client with a server, and their results. Must match python/scenario.py line by line.
import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 20_000;
const HANG_MS = 10_000;
const NOTICE_MS = 5000;
/** Time limit for a user who answers last, after the other calls of the round. */
const PATIENCE_MS = 8000;
const FOUR = ["ask", "sample", "work", "quick"];
const WORDS = { ask: { question: "colour" }, sample: { text: "rain" }, work: {}, quick: { text: "hi" } };

/** An event that happens once, with a wait that has a time limit. */
export class Happening {
  #happened = new AbortController();
  set = () => this.#happened.abort();
  within = (ms) =>
    this.#happened.signal.aborted || sleep(ms, false, { signal: this.#happened.signal }).catch(() => true);
}

/** Answers server requests (the user for `ask`, the model for `sample`), and records notifications of changes. */
export class Person {
  mayAnswer = new Happening();
  changed = new Happening();
  asked = [];

  constructor() {
    this.mayAnswer.set();
  }

  async answer(message) {
    this.asked.push(message);
    return (await this.mayAnswer.within(PATIENCE_MS)) ? `blue for ${message}` : "too late";
  }

  model = (text) => `said ${text}`;
}

/** Returns the result of a step, or its error, which is an observation too. */
async function seen(step, ms = STEP_MS) {
  const ended = new AbortController();
  const late = sleep(ms, `no answer within ${ms / 1000} s`, { signal: ended.signal });
  try {
    return await Promise.race([step, late]);
  } catch (error) {
    return `error: ${error.message}`;
  } finally {
    ended.abort();
    late.catch(() => {});
  }
}

/**
 * Returns a tool's name. A server of both eras has a tool for each way to send requests or notifications: `name` uses
 * the legacy era, `name_modern` the newer one.
 */
function named(tools, name, partner) {
  const modern = `${name}_modern`;
  return partner.opened().version === "2026-07-28" && tools.includes(modern) ? modern : name;
}

/** Makes four concurrent calls. The user answers after the other three have ended. */
async function together(partner, person, tools, order) {
  const ended = [];
  const progress = [];
  person.mayAnswer = new Happening();
  person.asked = [];
  const one = async (name) => {
    const result = await seen(
      partner.call(
        named(tools, name, partner),
        WORDS[name],
        name === "work" ? (value) => progress.push(value) : undefined,
      ),
    );
    ended.push(name);
    if (["sample", "work", "quick"].every((other) => ended.includes(other))) person.mayAnswer.set();
    return [name, result];
  };
  const results = Object.fromEntries(await Promise.all(order.map(one)));
  return {
    ...results,
    progress,
    asked: person.asked,
    quickEndedBeforeWork: ended.indexOf("quick") < ended.indexOf("work"),
  };
}

/** Makes a call and cancels it as soon as it has begun. */
async function cancel(partner) {
  const begun = new Happening();
  const withdrawn = new AbortController();
  const call = partner.call("hang", {}, begun.set, withdrawn.signal);
  const ended = seen(
    call.then(
      (result) => `not left: ${result}`,
      (error) => (withdrawn.signal.aborted ? "left" : `error: ${error.message}`),
    ),
    HANG_MS,
  );
  const hasBegun = await begun.within(NOTICE_MS);
  withdrawn.abort("enough");
  let heard;
  for (let attempt = 0; attempt < 20; attempt++) {
    heard = await seen(partner.call("heard", {}));
    if (heard !== "cancelled: 0") break;
    await sleep(250);
  }
  return { begun: hasBegun, ended: await ended, heard };
}

async function change(partner, person, tools) {
  person.changed = new Happening();
  const result = await seen(partner.call(named(tools, "change", partner), {}));
  return {
    result,
    heard: await person.changed.within(NOTICE_MS),
    listed: await seen(partner.tools()),
    extra: await seen(partner.call("extra", {})),
  };
}

/**
 * Waits until the server lists its tools, because a busy machine starts it slowly. The other scenario covers cold
 * starts.
 */
async function offered(partner) {
  for (let attempt = 0; attempt < 20; attempt++) {
    const tools = await seen(partner.tools());
    if (Array.isArray(tools) && tools.length > 0) return tools;
    await sleep(500);
  }
  return [];
}

async function whole(partner, person) {
  const tools = await offered(partner);
  return {
    opened: partner.opened(),
    tools,
    quick: await seen(partner.call("quick", { text: "one" })),
    resource: await seen(partner.read("note://partner")),
    prompt: await seen(partner.prompt("greet", { name: "Ada" })),
    askFirst: await together(partner, person, tools, FOUR),
    askLast: await together(partner, person, tools, FOUR.toReversed()),
    cancel: await cancel(partner),
    change: await change(partner, person, tools),
  };
}

/** Makes all calls as soon as the connection is open, then repeats each until it is served. */
async function cold(partner) {
  const steps = [
    partner.call("quick", { text: "one" }),
    partner.read("note://partner"),
    partner.prompt("greet", { name: "Ada" }),
    partner.tools(),
  ];
  const [quick, resource, prompt, tools] = await Promise.all(steps.map((step) => seen(step)));
  let later;
  for (let attempt = 0; attempt < 40; attempt++) {
    later = await seen(partner.call("quick", { text: "two" }));
    if (later === "quick: two") break;
    await sleep(500);
  }
  return { opened: partner.opened(), quick, resource, prompt, tools, later, toolsLater: await seen(partner.tools()) };
}

/** Connects, runs the scenario and prints one line of JSON. */
export async function run(connect) {
  const target = JSON.parse(process.argv[2]);
  const person = new Person();
  const observed = await connect(target, person)
    .then((partner) => (target.scenario === "cold" ? cold(partner) : whole(partner, person)))
    .catch((error) => ({ error: `${error}` }));
  process.stdout.write(`${JSON.stringify(observed)}\n`);
}

/** `tools`, `tools.listChanged`, …: declared capabilities, without false ones. */
export function capabilities(declared = {}) {
  return Object.entries(declared)
    .flatMap(([name, members]) => [
      name,
      ...Object.entries(members)
        .filter(([, value]) => value)
        .map(([member]) => `${name}.${member}`),
    ])
    .toSorted();
}
