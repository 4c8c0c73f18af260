import { expect, test } from "vitest";
import {
  claimsModernEra,
  findEnvelopeFaults,
  META,
  readEnvelope,
  subscriptionIdOf,
  writeEnvelope,
} from "./envelope.ts";

const envelope = {
  protocolVersion: "2026-07-28",
  clientCapabilities: { elicitation: {} },
  clientInfo: { name: "a", version: "1" },
  logLevel: "info",
};

test("uses the keys of the specification", () => {
  expect(META).toEqual({
    protocolVersion: "io.modelcontextprotocol/protocolVersion",
    clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
    clientInfo: "io.modelcontextprotocol/clientInfo",
    logLevel: "io.modelcontextprotocol/logLevel",
    serverInfo: "io.modelcontextprotocol/serverInfo",
    subscriptionId: "io.modelcontextprotocol/subscriptionId",
  });
});

test("the parsed envelope equals the written one, and the other members of _meta stay", () => {
  const meta = writeEnvelope({ progressToken: 1, [META.logLevel]: "stale" }, envelope);
  expect(readEnvelope({ _meta: meta })).toEqual({ type: "envelope", envelope, meta: { progressToken: 1 } });
});

test("an envelope without client info and log level is complete", () => {
  const bare = { protocolVersion: "2026-07-28", clientCapabilities: {} };
  expect(readEnvelope({ _meta: writeEnvelope({}, bare) })).toEqual({ type: "envelope", envelope: bare, meta: {} });
});

test("params without the version key are not modern", () => {
  expect(readEnvelope({ _meta: { [META.clientCapabilities]: {} } })).toEqual({ type: "none" });
  expect(claimsModernEra({ _meta: { progressToken: 1 } })).toBe(false);
  expect(claimsModernEra({ _meta: { [META.protocolVersion]: 7 } })).toBe(true);
});

test("returns each invalid key of a malformed envelope", () => {
  const reading = readEnvelope({
    _meta: { [META.protocolVersion]: 7, [META.clientInfo]: {}, [META.logLevel]: "loud" },
  });
  expect(reading.type === "invalid" && reading.faults.map((fault) => fault.key)).toEqual([
    META.protocolVersion,
    META.clientCapabilities,
    META.clientInfo,
    META.logLevel,
  ]);
});

test("reports two missing keys for an empty _meta", () => {
  expect(findEnvelopeFaults({})).toEqual([
    { key: META.protocolVersion, problem: "missing" },
    { key: META.clientCapabilities, problem: "missing" },
  ]);
});

test("0 is a valid subscription id", () => {
  expect(subscriptionIdOf({ _meta: { [META.subscriptionId]: 0 } })).toBe(0);
  expect(subscriptionIdOf({ _meta: {} })).toBeUndefined();
});
