// A process that writes into a library and is killed in the middle: `doomed.ts ADDRESS AT TEXT` ends itself with
// SIGKILL before the statement or request number AT, and prints `written` where it gets to the end before that.
import { createPostgresStore } from "../../../servers/library/store/postgres.ts";
import {
  openPostgres,
  type PostgresDriver,
  type PostgresSession,
} from "../../../servers/library/store/postgres-driver.ts";
import { openStore, parseStore } from "../../../servers/library/store/open-store.ts";
import { createSqliteStore } from "../../../servers/library/store/sqlite.ts";
import { openSqlite } from "../../../servers/library/store/open-sqlite.ts";
import type { SqliteDriver } from "../../../servers/library/store/sqlite-driver.ts";
import type { LibraryStore } from "../../../servers/library/store/store.ts";
import { doomedDocument } from "./doomed-document.ts";

const [address = "", at = "", word = ""] = process.argv.slice(2);
let left = Infinity;

const store = await openDoomed();
left = Number(at);
const { document, text, passages } = doomedDocument(word);
await store.replaceDocument(document, text, passages);
process.stdout.write("written");

function step(): void {
  left -= 1;
  if (left <= 0) process.kill(process.pid, "SIGKILL");
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

/** The driver, with a step before each of these. */
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
        // Before the commit.
        step();
        return result;
      }),
    close: () => driver.close(),
  };
}
