import { parseExact, stringifyExact } from "../../packages/toolyard/src/core/json/exact-json.ts";
import {
  createEmbeddedEngine,
  type EmbeddedEngine,
  type EmbeddedEngineSeams,
} from "../../packages/toolyard/src/sandbox/embedded-engine.ts";
import type {
  HostReply,
  SandboxEngine,
  SandboxHost,
  SandboxJob,
  SandboxLimits,
  SandboxOutcome,
} from "../../packages/toolyard/src/sandbox/engine.ts";
import { resolveSandbox, type SandboxConfig } from "../../packages/toolyard/src/sandbox/options.ts";

export type JobParts = Partial<Omit<SandboxJob, "limits">> & {
  readonly code: string;
  readonly limits?: Partial<SandboxLimits>;
  readonly signal?: AbortSignal;
  readonly host?: SandboxHost;
};

export interface Driven {
  readonly engine: SandboxEngine;
  run(parts: JobParts): Promise<SandboxOutcome>;
}

/** A host with a few tools that return their arguments. */
export function echoHost(
  tools: Readonly<Record<string, (args: Record<string, unknown>, signal: AbortSignal) => unknown>> = {},
): SandboxHost {
  return {
    async call(path, argumentsJson, signal): Promise<HostReply> {
      const args = parseExact(argumentsJson) as Record<string, unknown>;
      const tool = Object.hasOwn(tools, path) ? tools[path] : undefined;
      if (path === "fails") return { ok: false, kind: "tool_error", message: "the disk is full", retryable: true };
      return { ok: true, json: stringifyExact(tool ? ((await tool(args, signal)) ?? null) : { path, args }) };
    },
    async search(query, limit): Promise<HostReply> {
      return { ok: true, json: JSON.stringify([{ query, limit }]) };
    },
  };
}

/** Runs jobs on an engine, with defaults for all members of a job. */
export function drive(engine: SandboxEngine, limits: SandboxLimits = resolveSandbox().limits): Driven {
  return {
    engine,
    run: ({ limits: own, signal = new AbortController().signal, host = echoHost(), ...parts }) =>
      engine.run(
        {
          language: "javascript",
          inputs: {},
          files: [],
          profile: "scripting",
          ...parts,
          limits: { ...limits, ...own },
        },
        host,
        signal,
      ),
  };
}

export interface DrivenEmbedded extends Driven, AsyncDisposable {
  readonly engine: EmbeddedEngine;
}

export function embedded(config: SandboxConfig = {}, seams: EmbeddedEngineSeams = {}): DrivenEmbedded {
  const options = resolveSandbox(config);
  const engine = createEmbeddedEngine(options, seams);
  return { ...drive(engine, options.limits), engine, [Symbol.asyncDispose]: () => engine.dispose() };
}

/** Returns the value of a run. */
export function valueOf({ resultJson }: SandboxOutcome): unknown {
  return resultJson === undefined ? undefined : parseExact(resultJson);
}
