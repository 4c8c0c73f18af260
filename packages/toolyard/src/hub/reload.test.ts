import { expect, test } from "vitest";
import { ConfigError } from "../core/errors.ts";
import { controlOf } from "./hub-control.ts";
import type { Hub } from "./hub.ts";
import { Reloader } from "./reload.ts";

/** Opens a reloader whose next configurations the test supplies. */
function open() {
  const config = { tree: { limits: {} }, unusable: [], files: [] };
  const logged: unknown[] = [];
  const hub = {
    config,
    logger: { error: (_message: string, facts: object) => logged.push(facts) },
    services: { hubControl: () => control, audit: { record: () => {} } },
  };
  const control = controlOf(hub as never);
  let next: () => Promise<unknown> = async () => config;
  const reloader = new Reloader({ hub: hub as unknown as Hub, load: () => next() as never });
  const refuse = (reason: string): void => {
    next = () => Promise.reject(new ConfigError([reason]));
  };
  const accept = (): void => {
    next = async () => config;
  };
  return { control, reloader, refuse, accept, logged };
}

test.each(["by its watcher", "by an administrator"])(
  "reports why a configuration read %s is not in force",
  async (how) => {
    const { control, reloader, refuse, accept, logged } = open();
    const read = (): Promise<unknown> =>
      how === "by its watcher" ? reloader.reload() : control.reload().catch((error: Error) => error);
    expect(control.problem).toBeUndefined();
    refuse("Unknown option `prot`");
    await read();
    expect(control.problem).toBe("Unknown option `prot`");
    refuse("Unknown section [sever]");
    await read();
    expect(control.problem).toBe("Unknown section [sever]");
    accept();
    await read();
    expect(control.problem).toBeUndefined();
    expect(logged).toHaveLength(how === "by its watcher" ? 2 : 0);
  },
);
