import { expect, test } from "vitest";
import { createAudit } from "./audit.ts";
import { lineText, type LateLine, type LineSink } from "./line-sink.ts";
import { createLogger, type LoggerOptions } from "./logger.ts";
import { LogRing } from "./log-ring.ts";
import { Redactor } from "./redactor.ts";

class Lines implements LineSink {
  readonly lines: string[] = [];
  write(line: string | LateLine): void {
    this.lines.push(lineText(line));
  }
  async close(): Promise<void> {}
}

function loggerInto(sink: LineSink, more: Partial<LoggerOptions> = {}): ReturnType<typeof createLogger> {
  return createLogger({ level: "debug", format: "text", sink, redactor: new Redactor(), color: false, ...more });
}

function written(more: Partial<LoggerOptions>, write: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const sink = new Lines();
  write(loggerInto(sink, more));
  return sink.lines;
}

test("writes time, level, message and facts of a text line", () => {
  const [line] = written({}, (logger) =>
    logger.warning("It broke.", { source: "files", reason: "no such thing", count: 3 }),
  );
  expect(line).toMatch(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARN  It broke\. source=files reason="no such thing" count=3$/,
  );
});

test("G13: prints a stack below its line", () => {
  const [line] = written({}, (logger) => logger.error("It threw.", { stack: "Error: x\n  at a\n  at b", tool: "t" }));
  expect(line!.split("\n").slice(1)).toEqual(["    Error: x", "    at a", "    at b"]);
  expect(line).toMatch(/It threw\. tool=t\n/);
});

test("keeps lines in the ring that are not written to the sink", () => {
  const ring = new LogRing();
  const lines = written({ ring, omits: ({ facts }) => "told" in facts }, (logger) => {
    logger.error("one", { told: "caller" });
    logger.error("two");
  });
  expect(lines).toEqual([expect.stringContaining("two")]);
  expect(ring.texts({ limit: 9 })).toHaveLength(2);
});

test("writes a JSON line as one object, in which facts cannot replace `time`, `level` and `message`", () => {
  const [line] = written({ format: "json" }, (logger) =>
    logger.info("Hi\nthere", { a: { b: [1] }, level: "fake", time: "fake" }),
  );
  expect(line).not.toContain("\n");
  expect(JSON.parse(line!)).toMatchObject({
    level: "info",
    message: "Hi\nthere",
    a: { b: [1] },
    _level: "fake",
    _time: "fake",
  });
});

test("G66: does not write lines below the level", () => {
  const lines = written({ level: "warning", format: "json" }, (logger) => {
    logger.debug("a");
    logger.info("b");
    logger.warning("c");
    logger.error("d");
  });
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(["c", "d"]);
});

test("adds the facts given to `with` to all lines", () => {
  const [line] = written({ format: "json" }, (logger) =>
    logger.with({ part: "stdio" }).with({ source: "files" }).info("x", { a: 1 }),
  );
  expect(JSON.parse(line!)).toMatchObject({ part: "stdio", source: "files", a: 1 });
});

test("S14: redacts messages and facts, as text and as JSON", () => {
  const redactor = new Redactor();
  redactor.add("my-known-secret");
  for (const format of ["text", "json"] as const) {
    const lines = written({ format, redactor }, (logger) =>
      logger.error("got my-known-secret", {
        header: "Bearer abcdefgh",
        token: "xyz",
        cause: new Error("my-known-secret"),
        deep: { list: ["my-known-secret"] },
      }),
    );
    expect(lines.join()).not.toMatch(/my-known-secret|abcdefgh|xyz/);
  }
});

test("escapes line breaks and terminal commands in external text", () => {
  const [line] = written({}, (logger) => logger.info("a\n2026-01-01 ERROR forged\u001b[31m", { x: "b\r\nc" }));
  for (const char of ["\n", "\r", "\u001b"]) expect(line).not.toContain(char);
});

test("G64: writes an error with its stack and its causes", () => {
  const error = new Error("outer", { cause: new Error("inner") });
  const [text] = written({}, (logger) => logger.error("x", { cause: error }));
  expect(text).toMatch(/\n {4}Error: outer\n {4}at /);
  const [json] = written({ format: "json" }, (logger) => logger.error("x", { cause: error }));
  expect(JSON.parse(json!)).toMatchObject({
    cause: { message: "outer", stack: expect.stringContaining("at "), cause: { message: "inner" } },
  });
});

test("limits the length of a line for facts of any size and shape", () => {
  const endless: Record<string, unknown> = {
    big: 1n,
    f: () => 1,
    s: Symbol("s"),
    text: "x".repeat(1e6),
    list: Array.from({ length: 1e5 }, () => "y".repeat(100)),
  };
  endless["self"] = endless;
  for (const format of ["text", "json"] as const) {
    const [line] = written({ format }, (logger) => logger.info("m".repeat(1e6), endless));
    expect(line!.length).toBeLessThan(200_000);
  }
});

test("writes colours only if `color` is set", () => {
  expect(written({ color: true }, (logger) => logger.error("x"))[0]).toContain("\u001b[");
  expect(written({ color: false }, (logger) => logger.error("x"))[0]).not.toContain("\u001b[");
});

test("the ring keeps a limited number of the last lines, oldest first", () => {
  const ring = new LogRing(3);
  written({ ring }, (logger) => {
    for (const word of ["a", "b", "c", "d"]) logger.info(word);
    logger.error(`e${"x".repeat(1000)}`);
  });
  expect(ring.texts().map((line) => line.split(" ").at(-1)![0])).toEqual(["c", "d", "e"]);
  expect(ring.texts({ level: "error" })).toHaveLength(1);
  expect(ring.texts({ limit: 1 })).toHaveLength(1);
  expect(ring.texts({ limit: 0 })).toHaveLength(0);
  expect(Math.max(...ring.texts().map((line) => line.length))).toBeLessThanOrEqual(2100);
});

test("S14: an audit line is one JSON line without secrets", () => {
  const sink = new Lines();
  const redactor = new Redactor();
  redactor.add("my-known-secret");
  const line = {
    time: "t",
    call: "c",
    endpoint: "d",
    principal: "p",
    method: "tools/call" as const,
    target: "x my-known-secret",
    kind: "ok" as const,
    durationMs: 1,
    argumentBytes: 2,
    resultBytes: 3,
    attempts: 1,
  };
  createAudit([sink], { redactor }).write(line);
  expect(sink.lines.map((text) => JSON.parse(text) as unknown)).toEqual([
    { event: "call", ...line, target: "x ***", resultTokens: 1 },
  ]);
});

test("S14: redacts a secret in an audit line even if the secret is removed before the line is written", () => {
  const redactor = new Redactor();
  redactor.add("my-known-secret");
  const late: (string | LateLine)[] = [];
  const head = { time: "t", call: "c", endpoint: "d", principal: "p", method: "tools/call" } as const;
  const sizes = { argumentBytes: 2, resultBytes: 3, attempts: 1 };
  const line = { ...head, target: "x my-known-secret", kind: "ok", durationMs: 1, ...sizes } as const;
  createAudit([{ write: (one) => void late.push(one), close: async () => {} }], { redactor }).write(line);
  redactor.clear();
  expect(late.map(lineText)).toEqual([JSON.stringify({ event: "call", ...line, target: "x ***", resultTokens: 1 })]);
});

test("S14: redacts a secret that crosses the length limit of a text", () => {
  const redactor = new Redactor();
  redactor.add("a-very-secret-value");
  for (let at = 1975; at <= 2000; at += 1) {
    const lines: string[] = [];
    const logger = createLogger({
      level: "debug",
      format: "json",
      sink: { write: (line) => void lines.push(lineText(line)), close: async () => {} },
      redactor,
      color: false,
    });
    const text = `${"=".repeat(at)}a-very-secret-value${"=".repeat(3000)}`;
    logger.info(text, { text, error: new Error(text) });
    expect(lines.join().includes("=a-v"), String(at)).toBe(false);
  }
});
