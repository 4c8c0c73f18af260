// Simulates the store, the relay and the hubs of a large installation, from the measured cost of single operations.

/** Load of one installation. Times in seconds, sizes in bytes. */
export const LOAD = {
  sessions: 1_000_000,
  /** Share of the sessions with a client of the legacy era. Only they are held by one hub. */
  legacyShare: 0.5,
  /** Mean time between two calls of a session, and mean duration of a session. */
  callEvery: 60,
  sessionTime: 3600,
  /** Mean duration of a call. */
  callTime: 1,
  /** Share of the calls of clients with a limit below 128, which is counted call by call. */
  limitedShare: 0.5,
  /** Share of the legacy calls that are answered by an event stream, and events of such a call. */
  streamedShare: 0.2,
  eventsPerStream: 3,
  /** Share of the calls that ask their client for input. */
  askingShare: 0.01,
  /** Share of the legacy sessions with an open `GET` stream. */
  listeningShare: 0.5,
  /**
   * Mean time between two updates of a subscribed resource. Each hub gets the updates from its own sources and
   * publishes them.
   */
  resourceUpdateEvery: 600,
  /** Replacements of a hub per day, by deployments and failures. */
  replacedPerDay: 2,
  requestBytes: 500,
  answerBytes: 2000,
};

/** Times that the hub uses, in seconds. `packages/toolyard/src/state/redis` defines them. */
export const PERIODS = { lease: 2, sessionKeys: 1200 };

/** Maximum number of sessions of other hubs that a hub remembers (`endpoints/mcp/legacy/remote-sessions.ts`). */
const MAX_KNOWN = 10_000;

/** Share of a resource's capacity above which the resource counts as saturated. */
const FULL = 0.7;

/** Returns a random number generator, so that a run can be repeated. Mulberry32. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Sessions and calls of a sample of the sessions, with counts that are scaled up to all sessions. */
class Sample {
  counts = new Map();
  /** Number of requests that each hub handles. */
  work;
  #load;
  #hubs;
  #scale;
  #random;
  #knownShare;

  constructor(hubs, load, { sample, seed }) {
    this.work = new Float64Array(hubs);
    this.#load = load;
    this.#hubs = hubs;
    this.#scale = load.sessions / sample;
    this.#random = createRandom(seed);
    // A hub receives requests of every session, and remembers the holders of some sessions only.
    this.#knownShare = Math.min(1, MAX_KNOWN / (load.sessions * load.legacyShare));
  }

  /** Simulates one client, which opens a new session when one has ended. */
  client(seconds) {
    const { legacyShare, callEvery, sessionTime } = this.#load;
    const isLegacy = this.#chance(legacyShare);
    let owner = isLegacy ? this.#anyHub() : undefined;
    let end = this.#wait(sessionTime);
    for (let now = this.#wait(callEvery); now < seconds; now += this.#wait(callEvery)) {
      for (; now > end; end += this.#wait(sessionTime)) if (isLegacy) owner = this.#renewSession();
      this.#call(owner);
    }
  }

  #renewSession() {
    this.#count("put");
    this.#count("remove");
    return this.#anyHub();
  }

  #call(owner) {
    const entry = this.#anyHub();
    this.#count("calls");
    this.work[entry] += 1;
    if (this.#chance(this.#load.limitedShare)) {
      this.#count("admit");
      this.#count("leave");
    }
    const isAsking = this.#chance(this.#load.askingShare);
    if (owner !== undefined) this.#legacyCall(owner, entry, isAsking);
    else if (isAsking) this.#parkedCall(entry);
  }

  #legacyCall(owner, entry, isAsking) {
    const { streamedShare, eventsPerStream } = this.#load;
    if (entry !== owner) {
      this.#relay();
      this.work[owner] += 1;
    }
    if (isAsking && this.#anyHub() !== owner) this.#relay();
    if (this.#chance(streamedShare)) this.#count("append", 1 + eventsPerStream);
  }

  /** Counts a modern call that is parked until its client answers. Its repetition may reach any hub. */
  #parkedCall(entry) {
    this.#count("put");
    this.#count("remove");
    if (this.#anyHub() !== entry) this.#relay();
  }

  #relay() {
    this.#count("relayed");
    if (!this.#chance(this.#knownShare)) this.#count("find");
  }

  #count(name, amount = 1) {
    this.counts.set(name, (this.counts.get(name) ?? 0) + amount * this.#scale);
  }

  #anyHub() {
    return Math.floor(this.#random() * this.#hubs);
  }

  #chance(part) {
    return this.#random() < part;
  }

  #wait(mean) {
    return -Math.log(1 - this.#random()) * mean;
  }
}

/**
 * Simulates `seconds` of an installation with `hubs` hubs behind a load balancer that chooses a hub at random for each
 * request. A sample of the sessions is simulated, and all counts are scaled up.
 * @returns counts per second: `commands` of the store by name, `calls`, `relayed`, and `imbalance`: the work of the
 *   busiest hub compared with the mean.
 */
export function simulate(hubs, { load = LOAD, seconds = 600, sample = 20_000, seed = 1 } = {}) {
  const simulated = new Sample(hubs, load, { sample, seed });
  for (let at = 0; at < sample; at += 1) simulated.client(seconds);
  const perSecond = (name) => (simulated.counts.get(name) ?? 0) / seconds;
  const legacy = load.sessions * load.legacyShare;
  const calls = perSecond("calls");
  const [lease, publish] = [hubs / PERIODS.lease, hubs / load.resourceUpdateEvery];
  const replaced = (hubs * load.replacedPerDay) / 86_400;
  const counted = Object.fromEntries(["admit", "leave", "find", "append", "remove"].map((n) => [n, perSecond(n)]));
  return {
    hubs,
    calls,
    relayed: perSecond("relayed"),
    commands: {
      ...counted,
      put: perSecond("put") + legacy / PERIODS.sessionKeys,
      lease,
      renew: (calls * load.limitedShare * load.callTime) / PERIODS.lease,
      // Sessions of a replaced hub are claimed, and their events are read.
      claim: (2 * replaced * legacy) / hubs,
      publish,
    },
    deliveries: publish * hubs,
    claimsAfterFailure: legacy / hubs,
    relayedStreams: legacy * load.listeningShare * (1 - 1 / hubs),
    imbalance: Math.max(...simulated.work) / (simulated.work.reduce((sum, work) => sum + work, 0) / hubs),
    sessions: load.sessions,
    legacy,
  };
}

/**
 * Computes the use of each resource from the counts and the measured costs.
 * @returns for each resource its use as a part of one unit: a core, a gigabyte of memory, a gigabit per second.
 */
export function usage(result, costs, load = LOAD) {
  const commandUs = Object.entries(result.commands).map(([name, rate]) => rate * costs.storeUs[name]);
  const storeCpu = (commandUs.reduce((sum, us) => sum + us, 0) + result.deliveries * costs.storeUs.delivery) / 1e6;
  const perHub = (amount) => amount / result.hubs;
  const hubUs =
    result.calls * costs.hubUs.call +
    result.relayed * costs.hubUs.relayed +
    (result.commands.admit + result.commands.find) * costs.hubUs.command +
    result.deliveries * costs.hubUs.delivery;
  const relayBytes = result.relayed * (load.requestBytes + load.answerBytes + costs.relayHeadBytes);
  return {
    storeCpu,
    storeGb: (result.legacy * (costs.bytes.session + costs.bytes.events) + result.calls * costs.bytes.limit) / 1e9,
    hubCpu: (perHub(hubUs) / 1e6) * result.imbalance,
    hubGb: perHub(result.legacy * costs.bytes.hubSession) / 1e9,
    relayGbit: (perHub(relayBytes) * 8 * 2) / 1e9,
    connections: perHub(result.relayedStreams) * 2,
  };
}

/** Capacities of one server of the store, and of one hub with one core. */
const CAPACITY = { storeCpu: 1, storeGb: 16, hubCpu: 1, hubGb: 4, relayGbit: 10, connections: 60_000 };

/** Returns the resources in order of their use, each as a part of the capacity. */
export function saturation(used) {
  return Object.entries(CAPACITY)
    .map(([name, capacity]) => ({ name, part: used[name] / capacity, isFull: used[name] / capacity > FULL }))
    .sort((one, other) => other.part - one.part);
}
