import { afterEach, expect, test, vi } from "vitest";
import type { AuthServerParts } from "../../auth/builtin/auth-server.ts";
import { AuthServerHandle } from "../../auth/builtin/auth-server-handle.ts";
import type { AuthOptions } from "../../auth/options.ts";
import { LiveAuthServer, type LiveAuthServerParts } from "./live-auth-server.ts";

vi.mock("../../auth/builtin/auth-server-handle.ts", () => ({ AuthServerHandle: vi.fn(class {}) }));

afterEach(() => void vi.useRealTimers());

/** Returns the clock that the authorization server of a hub gets. */
function clockOf(state: { readonly now?: number }): AuthServerParts["now"] {
  const servers = new LiveAuthServer({ variables: {}, state, report: () => {} } as unknown as LiveAuthServerParts);
  servers.create({ builtin: {} } as unknown as AuthOptions, {} as Pick<AuthServerParts, "audience" | "nonceSecret">);
  return vi.mocked(AuthServerHandle).mock.lastCall![0].now;
}

test.each([-61_000, 0, 61_000])("uses the clock of the store if it differs by %i ms", (offsetMs) => {
  vi.useFakeTimers();
  const state = {
    get now() {
      return Date.now() + offsetMs;
    },
  };
  const clock = clockOf(state);
  vi.setSystemTime(Date.now() + 5000);
  expect(clock()).toBe(Date.now() + offsetMs);
});

test("uses the clock of this machine without a store", () => {
  vi.useFakeTimers();
  expect(clockOf({})()).toBe(Date.now());
});
