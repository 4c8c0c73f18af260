import { messageOf } from "../../core/errors.ts";
import { processActivity } from "../../core/process-activity.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { LateLine, LineSink, SinkOptions } from "../line-sink.ts";
import { openStderrSink } from "../sinks.ts";
import { openAuditFile } from "./audit-file.ts";
import type { AuditOptions } from "./options.ts";

/** Maximum number of characters that wait for a sink on the network. */
const NETWORK_WAITING_CHARS = 8 * 2 ** 20;
/** Maximum number of lines that wait until the code of a sink is loaded. */
const MAX_LOADING = 10_000;
/** Milliseconds between two log lines about lost lines of one sink. */
const LOSS_LOG_MS = 60_000;

export interface AuditSinkParts {
  readonly logger: Logger;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Opens the configured sinks. A sink never delays a call. Lines that a sink cannot write are counted and logged. */
export function openAuditSinks(options: AuditOptions, parts: AuditSinkParts): readonly LineSink[] {
  const { file, isOnStderr, syslog, webhook } = options;
  const sinks: LineSink[] = [];
  if (file) sinks.push(openAuditFile(file, sinkOptions(`the file ${file.path}`, parts)));
  if (isOnStderr) sinks.push(openStderrSink(sinkOptions("standard error", parts)));
  if (syslog) {
    const settings = { ...sinkOptions(`syslog at ${syslog.host}`, parts), maxWaitingChars: NETWORK_WAITING_CHARS };
    sinks.push(
      new LoadingSink(async () => (await import("./syslog-sink.ts")).openSyslogSink(syslog, settings), settings),
    );
  }
  if (webhook) {
    const { onLost, ...rest } = sinkOptions(`the webhook at ${webhook.url.origin}`, parts);
    const settings = { ...rest, onLost, maxWaitingChars: NETWORK_WAITING_CHARS, environment: parts.environment };
    const onRefused = (lines: number, status: number): void => {
      parts.logger.error("The webhook of the audit refused lines.", { lines, status });
      onLost(lines);
    };
    const load = async () => (await import("./webhook-sink.ts")).openWebhookSink(webhook, { ...settings, onRefused });
    sinks.push(new LoadingSink(load, settings));
  }
  return sinks;
}

function sinkOptions(name: string, { logger }: AuditSinkParts): SinkOptions & { readonly onLost: (n: number) => void } {
  let lost = 0;
  let loggedAt = -Infinity;
  return {
    describeDropped: (count) =>
      JSON.stringify({ event: "loss", time: new Date().toISOString(), action: "dropped", kind: "ok", dropped: count }),
    onLost: (lines) => {
      lost += lines;
      processActivity.auditLost += lines;
      if (performance.now() - loggedAt < LOSS_LOG_MS) return;
      loggedAt = performance.now();
      logger.error("Audit lines are lost, because their target does not take them.", { target: name, lost });
    },
    onError: (error) =>
      logger.error("The audit cannot be written; lines are queued up to a limit.", {
        target: name,
        error: messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error),
      }),
  };
}

/** Sink with code that is loaded when the sink is configured. Lines wait meanwhile. */
class LoadingSink implements LineSink {
  readonly #opened: Promise<LineSink | undefined>;
  readonly #options: SinkOptions;
  #waiting: (string | LateLine)[] = [];
  #sink: LineSink | undefined;
  #isFailed = false;

  constructor(load: () => Promise<LineSink>, options: SinkOptions) {
    this.#options = options;
    this.#opened = load().then(
      (sink) => {
        this.#sink = sink;
        for (const line of this.#waiting.splice(0)) sink.write(line);
        return sink;
      },
      (error: unknown) => {
        options.onError?.(error);
        this.#isFailed = true;
        const lost = this.#waiting.splice(0).length;
        if (lost > 0) options.onLost?.(lost);
        return undefined;
      },
    );
  }

  write(line: string | LateLine): void {
    if (this.#sink) return this.#sink.write(line);
    if (!this.#isFailed && this.#waiting.length < MAX_LOADING) this.#waiting.push(line);
    else this.#options.onLost?.(1);
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }
}
