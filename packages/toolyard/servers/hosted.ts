#!/usr/bin/env node
// Runs one service as a child process of a hub, on standard input and output: `node hosted.js weather`.
import {
  OptionError,
  type ModuleHub,
  type ModuleSchema,
  type ToolHandler,
  type ToolOptions,
  type ToolRegistration,
} from "toolyard";
import { loadService, openService, SERVICES, SERVICES_ON_REQUEST, startService } from "./services.ts";
import type { Environment } from "./shared/environment.ts";

/**
 * Returns the environment of a service. The weather service requests coordinates from the geocoding service. If no
 * address of one is configured, this function starts a geocoding service.
 */
async function environmentOf(name: string): Promise<Environment> {
  if (name !== "weather" || process.env["GEOCODING_URL"]) return process.env;
  const geocoding = SERVICES.find((service) => service.name === "geocoding")!;
  const { served } = await startService(geocoding, { port: 0 });
  return { ...process.env, GEOCODING_URL: served.endpoint };
}

/**
 * Returns a hub that moves the aliases and search keywords of a tool into `_meta`, because MCP has no field for them;
 * the hub reads them from there. All tools are listed; the hub decides about their visibility.
 */
function told(hub: ModuleHub): ModuleHub {
  const registerTool = (first: string | ToolRegistration, ...[handler, schema, description, options]: Rest) => {
    if (typeof first !== "string") return hub.registerTool({ ...first, ...inMeta(first) });
    return hub.registerTool(first, handler!, schema, description, { ...options, ...inMeta(options) });
  };
  return Object.create(hub, { registerTool: { value: registerTool }, register_tool: { value: registerTool } });
}

type Rest = [handler?: ToolHandler, schema?: ModuleSchema, description?: string, options?: ToolOptions];

function inMeta({ aliases = [], keywords = [], visibility = "native", _meta }: ToolOptions = {}): ToolOptions {
  return { visibility: "native", _meta: { ..._meta, "toolyard/registered": { aliases, keywords, visibility } } };
}

const [name = ""] = process.argv.slice(2);
try {
  const service = SERVICES_ON_REQUEST.includes(name)
    ? await loadService(name)
    : SERVICES.find((one) => one.name === name);
  if (!service) throw new OptionError(`Unknown service ${JSON.stringify(name)}.`);
  const register: typeof service.register = (own, environment) => service.register(told(own), environment);
  const hub = await openService({ ...service, register }, { environment: await environmentOf(name) });
  await hub.serveStdio().done;
  await hub.close();
  process.exit();
} catch (error) {
  if (!(error instanceof OptionError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}
