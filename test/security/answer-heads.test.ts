// Text of upstream servers that becomes a header of an answer. A value that HTTP cannot carry fails only that answer:
// the connection, the process and the calls of other clients continue.
import { Agent as PlainAgent, request as requestPlain, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as requestSecure } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CertificateFiles } from "../support/certificates.ts";
import { createRandom } from "../support/random.ts";
import { openTarget, openUpstream, tool, type Target, type Upstream } from "./attack.ts";

const UNFIT: readonly (readonly [what: string, type: string])[] = [
  ["letters beyond Latin-1", 'text/plain; charset="中"'],
  ["Latin-1 letters in quotes", 'text/plain; charset="é"'],
  ["NUL in quotes", 'text/plain; charset="\0"'],
  ["an escape sequence in quotes", 'text/plain; charset="\u001b[2J"'],
  ["DEL in quotes", 'text/plain; charset="\u007f"'],
  ["a line break between parameters", "text/plain;\nx-forged=1"],
  ["a line break and a header", "text/plain\r\nSet-Cookie: a=b"],
  ["a no-break space between parameters", "text/plain;\u00a0charset=utf-8"],
  ["a line separator between parameters", "text/plain;\u2028charset=utf-8"],
  ["a surrogate without its pair", 'text/plain; a="\ud800"'],
  ["blanks alone", "   "],
  ["nothing", ""],
  ["more than any type needs", `text/plain; a="${"x".repeat(70_000)}"`],
  ["a form feed before a parameter", "text/plain\f; a=b"],
];
const FIT = [
  "text/html",
  "text/plain; charset=utf-8",
  'text/plain;a="b c" ;\td=e',
  "image/svg+xml",
  "application/x.y-z",
];

describe.each([1, 2])("with %i process(es)", (workers) => {
  describe.each(["http", "https"] as const)("over %s", (scheme) => {
    const files = new CertificateFiles();
    let upstream: Upstream;
    let target: Target;
    let agent: PlainAgent;
    /** Media types, by the number in the URI of their resource. */
    const types: string[] = [];

    beforeAll(async () => {
      upstream = await openUpstream({
        tools: [tool("echo")],
        templates: [{ uriTemplate: "x://{at}", name: "types" }],
        answer: (method, params) => {
          if (method !== "resources/read") return undefined;
          const uri = String(params["uri"]);
          return { result: { contents: [{ uri, mimeType: types[Number(uri.slice(4))], text: "body" }] } };
        },
      });
      target = await openTarget({
        server: {
          workers,
          tokens: { ada: { token: "token-of-ada-1" }, bob: { token: "token-of-bob-2" } },
          ...(scheme === "https" && { tls: { cert: files.cert, key: files.key } }),
        },
        rest: { enabled: true },
        mcp: { remote_servers: [{ namespace: "odd", url: upstream.url }] },
      });
      agent = scheme === "https" ? new SecureAgent({ ca: files.authority.cert, keepAlive: true }) : new PlainAgent({});
    });
    afterAll(async () => {
      agent.destroy();
      await target[Symbol.asyncDispose]();
      await upstream.close();
      files[Symbol.dispose]();
    });

    interface Reply {
      readonly status: number;
      readonly type: string | undefined;
      readonly text: string;
    }
    const send = (token: string, path: string, body?: string): Promise<Reply> =>
      new Promise((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { "content-type": "application/json", "content-length": body.length }),
        };
        const options = { port: target.port, path, method: body === undefined ? "GET" : "POST", headers, agent };
        const taken = (response: IncomingMessage): void => {
          let text = "";
          response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
          response.on("end", () =>
            resolve({ status: response.statusCode!, type: response.headers["content-type"], text }),
          );
        };
        const request = scheme === "https" ? requestSecure(options, taken) : requestPlain(options, taken);
        request.on("error", reject).end(body);
      });
    const readRaw = (type: string): Promise<Reply> => {
      const uri = `x://${types.push(type) - 1}`;
      return send("token-of-ada-1", `/api/resources?raw=1&uri=${encodeURIComponent(uri)}`);
    };

    test.each(UNFIT)("serves a resource as plain text if its media type has %s", async (_what, type) => {
      expect(await readRaw(type)).toEqual({ status: 200, type: "text/plain; charset=utf-8", text: "body" });
    });

    test.each(FIT)("serves a resource with its media type %s", async (type) => {
      expect(await readRaw(type)).toEqual({ status: 200, type, text: "body" });
    });

    test("completes 20 calls of another token while a client reads media types of seed 20261127", async () => {
      const { below, pick } = createRandom(20_261_127);
      const part = (): string =>
        pick(["a", "/", ";", "=", '"', " ", "\t", "\r", "\n", "\0", "\u0080", "é", "中", "\\"]);
      const odd = Array.from({ length: 60 }, () => `text/${Array.from({ length: 1 + below(8) }, part).join("")}`);
      const calls = Array.from({ length: 20 }, () => send("token-of-bob-2", "/api/tools/odd__echo", "{}"));
      for (const { status } of await Promise.all(odd.map(readRaw))) expect(status).toBe(200);
      for (const reply of await Promise.all(calls))
        expect(reply).toMatchObject({ status: 200, text: expect.stringContaining("echo") });
      expect(await target.log()).not.toContain("worker of the HTTP endpoint");
    });
  });
});
