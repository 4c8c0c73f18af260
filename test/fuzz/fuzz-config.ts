import { fileURLToPath } from "node:url";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** A whole hub with a source of each fast kind, without rate limits. */
export const FUZZ_CONFIG: HubConfig = {
  server: { max_body_bytes: 65_536, sessions: { replay_max_bytes: 1_048_576, replay_max_events: 50 } },
  limits: { rate_per_minute: 0, in_flight: 0 },
  logging: { format: "json", level: "error" },
  modules: { paths: [path("../fixtures/modules")] },
  mcp: { stdio_servers: { up: { command: [process.execPath, path("../fixtures/upstreams/legacy.mjs")] } } },
};
