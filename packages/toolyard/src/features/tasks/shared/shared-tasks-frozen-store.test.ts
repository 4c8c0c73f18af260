// Tasks while the store accepts connections and does not answer.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import { Emitter } from "../../../core/events.ts";
import type { SharedQueues } from "../../../state/ports/shared-queues.ts";
import { resolveTasks } from "../options.ts";
import { SharedTasks } from "./shared-tasks.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a read of tasks fails after two seconds, and the next read opens another connection", async () => {
  const connections: { isOpen: boolean }[] = [];
  const connect = (): unknown => {
    const connection = { isOpen: true, on: () => {}, subscribe: () => new Promise(() => {}), disconnect };
    function disconnect(): void {
      connection.isOpen = false;
    }
    connections.push(connection);
    return connection;
  };
  const tasks = new SharedTasks({
    limits: { admit: () => ({ admitted: true }), leave: () => {} },
    queues: { hub: "one", prefix: "t:", isLost: false, connect } as unknown as SharedQueues,
    importBullmq: () => Promise.reject(new Error("The test uses no queue.")),
    options: () => resolveTasks({}),
    logger: { warning: () => {} },
    changed: new Emitter(),
    run: () => expect.unreachable(),
  });
  for (let reads = 1; reads <= 2; reads += 1) {
    const read = expect(tasks.ready({ principal: LOCAL_PRINCIPAL })).rejects.toThrow("did not answer in time");
    await vi.advanceTimersByTimeAsync(2000);
    await read;
    expect(connections).toHaveLength(reads);
  }
  await tasks.close();
  expect(connections.map(({ isOpen }) => isOpen)).toEqual([false, false]);
});
