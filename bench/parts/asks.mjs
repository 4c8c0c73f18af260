// The cost of one open server request for other callers: calls of 20 clients of one principal on a server that sends
// requests, while a further client has an open server request, compared with the same calls without it.
import { openAsked } from "../lib/asked.mjs";
import { withHub } from "../lib/hub.mjs";
import { median, ms } from "../lib/measure.mjs";
import { openSession } from "../lib/wire.mjs";
import { askingYard } from "../lib/yards.mjs";

const CALLERS = 20;
const ROUNDS = 5;
/** Number of alternations in each round, so that other load of the machine affects both sides. */
const TURNS = 8;

export async function measureAsks({ quick, report, folder }) {
  await withHub(askingYard(folder()), { home: folder() }, async (hub) => {
    const sessions = await Promise.all(Array.from({ length: CALLERS }, () => openSession(hub.url)));
    const asked = await openAsked(hub.url);
    // From the first request on, the hub knows that the server sends requests.
    await (
      await asked.ask("asking__ask")
    )();
    const count = CALLERS * (quick ? 10 : 100);
    await load(sessions, count * TURNS);
    const rounds = [];
    for (let at = 0; at < ROUNDS; at += 1) rounds.push(await round(sessions, asked, count));
    const ratios = rounds.map(({ without, during }) => during.p99 / without.p99);
    const of = (which, what) => ms(median(rounds.map((one) => one[which][what])));
    const figures =
      `p99 ${of("during", "p99")} beside ${of("without", "p99")}, p50 ${of("during", "p50")} beside ` +
      `${of("without", "p50")}`;
    const each = ratios.map((ratio) => ratio.toFixed(2)).join(", ");
    const shown = `${median(ratios).toFixed(2)} × without (${each}); ${figures}`;
    report(`p99 of ${CALLERS} callers of a server that asks, one question open`, shown, "1.2 ×");
    for (const session of sessions) session.close();
  });
}

async function round(sessions, asked, count) {
  const took = { without: [], during: [] };
  for (let turn = 0; turn < TURNS; turn += 1) {
    took.without.push(...(await load(sessions, count)));
    const answer = await asked.ask("asking__ask");
    // The asking client keeps its turn for a moment, in case a further request arrives; only the lasting state is
    // measured.
    await load(sessions, CALLERS);
    took.during.push(...(await load(sessions, count)));
    await answer();
  }
  return { without: percentiles(took.without), during: percentiles(took.during) };
}

/** Makes `count` calls in total, in parallel sessions, and returns the duration of each call. */
async function load(sessions, count) {
  const took = [];
  let left = count;
  const work = async (session) => {
    while (left > 0) {
      left -= 1;
      const startedAt = performance.now();
      await session.call("asking__echo", { text: "hello" }, { text: "hello" });
      took.push(performance.now() - startedAt);
    }
  };
  await Promise.all(sessions.map(work));
  return took;
}

function percentiles(took) {
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(sorted.length * share)];
  return { p50: at(0.5), p99: at(0.99) };
}
