import { parseArgs } from "node:util";
import { OptionError } from "toolyard";
import { openService, startService, type Service } from "./service.ts";

const USAGE =
  "Options: --stdio, --host ADDRESS, --port N (0 selects a free port), --insecure (listen on all network interfaces).";

/**
 * Runs one service as a program: on HTTP, or with `--stdio` on standard input and output, until a signal or its client
 * ends it.
 */
export async function runService(service: Service): Promise<void> {
  try {
    const { stdio, ...options } = readOptions(process.argv.slice(2));
    await (stdio ? serveOnStdio(service) : serveOnHttp(service, options));
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

async function serveOnStdio(service: Service): Promise<void> {
  const hub = await openService(service);
  const endpoint = hub.serveStdio();
  await Promise.race([endpoint.done, signalled()]);
  await hub.close();
}

async function serveOnHttp(service: Service, options: Parameters<typeof startService>[1]): Promise<void> {
  const running = await startService(service, options);
  process.stdout.write(`${service.name}: ${running.served.endpoint}\n`);
  await signalled();
  await running.close();
}

function signalled(): Promise<void> {
  return new Promise((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done());
  });
}

function readOptions(words: readonly string[]) {
  const { stdio = false, host, port, insecure = false } = parsed(words);
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    throw new OptionError(`--port must be a whole number from 0 to 65535, got ${JSON.stringify(port)}.`);
  return {
    stdio,
    insecure,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}

function parsed(words: readonly string[]) {
  try {
    const options = {
      stdio: { type: "boolean" },
      host: { type: "string" },
      port: { type: "string" },
      insecure: { type: "boolean" },
    } as const;
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new OptionError(`${(error as Error).message} ${USAGE}`, { cause: error });
  }
}
