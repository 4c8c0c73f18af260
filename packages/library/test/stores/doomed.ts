// A process that writes into a library and is killed during the write. It waits for the message ADDRESS, AT and TEXT.
// It ends itself with SIGKILL before the statement or request number AT. If the write completes before, it prints the
// number of statements or requests. AT in the form `log:0.3` is for a file: a thread writes a book, and the process
// ends when the file's log has reached that fraction of the book's size.
import { statSync } from "node:fs";
import { createPostgresStore } from "../../src/store/postgres/postgres.ts";
import { openPostgres, type PostgresDriver, type PostgresSession } from "../../src/store/postgres/postgres-driver.ts";
import { openStore, parseStore } from "../../src/store/open-store.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import { openSqlite } from "../../src/store/sqlite/open-sqlite.ts";
import type { SqliteDriver } from "../../src/store/sqlite/sqlite-driver.ts";
import type { LibraryStore } from "../../src/store/store.ts";
import { BOOK_CHUNKS, doomedDocument } from "./doomed-document.ts";
import { told } from "./doomed-process.ts";

const [address = "", at = "", word = ""] = await told();
let steps = 0;
let last = Infinity;

/** Bytes in the log for each passage of a book. */
const LOG_BYTES = 2_200;

const part = /^log:(.*)$/.exec(at)?.[1];
const store = part === undefined ? await openDoomed() : await openStore(parseStore(address));
steps = 0;
last = part === undefined ? Number(at) : Infinity;
const { document, text, passages } = doomedDocument(word, part === undefined ? undefined : BOOK_CHUNKS);
const over = part === undefined ? undefined : watchLog(Number(part) * BOOK_CHUNKS * LOG_BYTES);
await store.replaceDocument(document, text, passages);
over?.();
process.stdout.write(`written in ${steps} steps`);
await store[Symbol.asyncDispose]();

function step(): void {
  steps += 1;
  if (steps >= last) process.kill(process.pid, "SIGKILL");
}

/** Kills this process once the log exceeds this number of bytes. Returns a function that stops watching. */
function watchLog(bytes: number): () => void {
  const place = parseStore(address);
  if (place.kind !== "sqlite") throw new Error(`${address} has no log.`);
  let next: NodeJS.Immediate;
  const look = (): void => {
    const size = statSync(`${place.file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (size > bytes) process.kill(process.pid, "SIGKILL");
    // `setImmediate` keeps the event loop awake. Otherwise it sleeps until the thread's next message, after the write.
    next = setImmediate(look);
  };
  look();
  return () => clearImmediate(next);
}

async function openDoomed(): Promise<LibraryStore> {
  const place = parseStore(address);
  if (place.kind === "sqlite") {
    const driver = await openSqlite(place.file);
    return createSqliteStore(stepping(driver, ["exec", "run", "get", "all"]), place.file);
  }
  if (place.kind === "postgres") {
    const driver = steppingSession(await openPostgres(place.url));
    return createPostgresStore(driver, place.collection, "doomed");
  }
  const { fetch: ask } = globalThis;
  globalThis.fetch = (...request) => {
    step();
    return ask(...request);
  };
  return openStore(place);
}

/** Returns the driver with a call of `step` before each of these methods. */
function stepping(driver: SqliteDriver, names: readonly (keyof SqliteDriver)[]): SqliteDriver {
  return new Proxy(driver, {
    get(target, name: keyof SqliteDriver) {
      const value: unknown = target[name];
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => {
        if (names.includes(name)) step();
        return value.apply(target, given) as unknown;
      };
    },
  });
}

function steppingSession(driver: PostgresDriver): PostgresDriver {
  const counted = (session: PostgresSession): PostgresSession => ({
    query: (sql, values) => {
      step();
      return session.query(sql, values);
    },
    script: (sql) => {
      step();
      return session.script(sql);
    },
  });
  return {
    ...counted(driver),
    transaction: (work) =>
      driver.transaction(async (session) => {
        const result = await work(counted(session));
        // Counts the commit as a step.
        step();
        return result;
      }),
    close: () => driver.close(),
  };
}
