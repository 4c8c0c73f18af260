import type { Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ReaderWatch, sentBytes } from "./reader-watch.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function fakeSocket(handle: object): { readonly socket: Socket; readonly destroyed: ReturnType<typeof vi.fn> } {
  const destroyed = vi.fn();
  return { socket: { _handle: handle, destroy: destroyed } as unknown as Socket, destroyed };
}

test.each([
  ["of a connection", (handle: object) => handle],
  ["of an encrypted connection", (handle: object) => ({ bytesWritten: 9, writeQueueSize: 9, _parent: handle })],
])(
  "keeps a reader %s that reads a byte in each interval, and closes the connection when the reader stops",
  (_, wrap) => {
    const handle = { bytesWritten: 1000, writeQueueSize: 900 };
    const { socket, destroyed } = fakeSocket(wrap(handle));
    new ReaderWatch().start(socket, 100);
    for (let at = 0; at < 20; at += 1) {
      vi.advanceTimersByTime(90);
      handle.writeQueueSize -= 1;
    }
    expect(destroyed).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(destroyed).toHaveBeenCalled();
  },
);

test("closes the connection of a reader that reads nothing for one interval", () => {
  const { socket, destroyed } = fakeSocket({ bytesWritten: 10, writeQueueSize: 5 });
  new ReaderWatch().start(socket, 100);
  vi.advanceTimersByTime(99);
  expect(destroyed).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(destroyed).toHaveBeenCalledOnce();
});

test("does nothing after it is stopped", () => {
  const { socket, destroyed } = fakeSocket({ bytesWritten: 10, writeQueueSize: 5 });
  const watch = new ReaderWatch();
  watch.start(socket, 100);
  watch.stop();
  vi.advanceTimersByTime(1000);
  expect(destroyed).not.toHaveBeenCalled();
});

test.each([
  [{ bytesWritten: 10, writeQueueSize: 4 }, 6],
  [{ bytesWritten: 1, writeQueueSize: 0, _parent: { bytesWritten: 10, writeQueueSize: 3 } }, 7],
  [{ bytesWritten: 3, _parent: null }, 3],
  [{}, 0],
])("for the handle %j, reports %i sent bytes", (handle, expected) => {
  expect(sentBytes(fakeSocket(handle).socket)).toBe(expected);
});

test("for a closed connection, reports 0 sent bytes", () => {
  expect(sentBytes({ _handle: null } as unknown as Socket)).toBe(0);
});
