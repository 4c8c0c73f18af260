import type { Logger } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { PortListener } from "../../packages/toolyard/src/http/listening/listener.ts";
import { createListener } from "../../packages/toolyard/src/http/adapters/node/listener.ts";
import type { HttpOptions } from "../../packages/toolyard/src/http/options.ts";
import { createTokenAccess } from "../../packages/toolyard/src/http/request/tokens.ts";
import { createWorkerPool } from "../../packages/toolyard/src/http/adapters/workers/pool.ts";

/**
 * Number of serving processes in tests of the endpoints: `TOOLYARD_TEST_WORKERS=2 npx vitest run src/endpoints` runs
 * all of them with workers.
 */
const WORKERS = Number(process.env["TOOLYARD_TEST_WORKERS"] ?? 1);

/** Creates the listener of a test: in this process, or with workers. */
export function createTestListener(options: HttpOptions, logger: Logger, workers = WORKERS): PortListener {
  const { authenticator } = createTokenAccess(options);
  return workers > 1
    ? createWorkerPool({ ...options, workers }, logger, authenticator)
    : createListener(options, logger, authenticator);
}
