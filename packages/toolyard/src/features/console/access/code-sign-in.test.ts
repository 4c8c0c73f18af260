import { expect, test } from "vitest";
import type { CodeFlow } from "../../../core/ports/code-flow.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { CodeSignIn } from "./code-sign-in.ts";

test("loads the sign-in flows again after a failure, and only once after a success", async () => {
  let loads = 0;
  const signIn = new CodeSignIn({
    access: {
      loadCodeFlows: async () => {
        loads += 1;
        if (loads < 3) throw new Error("no such file");
        return [];
      },
    },
    client: { scopes: [], namesResource: false },
  });
  await expect(signIn.flows()).rejects.toThrow("no such file");
  await expect(signIn.flows()).rejects.toThrow("no such file");
  await Promise.all([signIn.flows(), signIn.flows()]);
  expect(await signIn.flows()).toEqual([]);
  expect(loads).toBe(3);
});

test("keeps a sign-in while a hundred addresses start ten sign-ins each", async () => {
  const flow: CodeFlow = {
    name: "hub",
    label: "hub",
    redirectUri: "https://hub.example/api/admin/callback",
    authorizationUrl: async ({ state }) => `https://issuer.example/?state=${state}`,
    redeem: async () => ({ accessToken: "a1" }),
    refresh: () => Promise.reject(new Error()),
    revoke: async () => {},
    close: async () => {},
  };
  const access = { loadCodeFlows: async () => [flow] };
  const signIn = new CodeSignIn({ access, client: { scopes: [], namesResource: false } });
  /** Starts a sign-in and returns its cookie. */
  const begin = async (remoteAddress: string): Promise<string> => {
    let cookie = "";
    const setHeader = (_name: string, value: string): void => void (cookie = value.split(";")[0]!);
    const answer = { setHeader, send: () => {} };
    const query = new URLSearchParams({ by: "hub" });
    await signIn.begin({ baseUrl: "https://hub.example", query, remoteAddress, answer } as unknown as HttpExchange);
    return cookie;
  };
  const cookie = await begin("192.0.2.1");
  for (let at = 0; at < 1000; at += 1) await begin(`address ${at % 100}`);
  const query = new URLSearchParams({ state: cookie.split("=")[1]! });
  const back = { baseUrl: "https://hub.example", query, header: () => cookie } as unknown as HttpExchange;
  expect((await signIn.complete(back)).tokens).toEqual({ accessToken: "a1" });
});
