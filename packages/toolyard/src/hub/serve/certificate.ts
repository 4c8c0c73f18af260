import { watchFiles } from "../../config/watch.ts";
import { messageOf } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { TlsReport } from "../../endpoints/endpoint.ts";
import type { TlsFiles } from "../../http/options.ts";
import { readKeyPair, validFrom, validUntil, type KeyPair } from "../../http/tls/key-pair.ts";

export interface CertificateOptions {
  readonly logger: Logger;
  /** Called with the first key pair and with each later one. */
  readonly use: (pair: KeyPair) => Promise<void>;
}

/** Interval of the checks in addition to watching, which fails on network drives and for some links. */
const LOOK_EVERY_MS = 60_000;

/**
 * Certificate and key of a port. They are reloaded when the files change. If the new pair is invalid, the current one
 * stays in use and the problem is logged.
 */
export class ServedCertificate {
  readonly #files: TlsFiles;
  readonly #options: CertificateOptions;
  #pair: KeyPair;
  #problem: string | undefined;
  /** Last logged message about the validity period. */
  #lastWarning: string | undefined;
  #stopWatching: () => Promise<void> = async () => {};
  #timer: NodeJS.Timeout | undefined;

  private constructor(files: TlsFiles, options: CertificateOptions, pair: KeyPair) {
    this.#files = files;
    this.#options = options;
    this.#pair = pair;
  }

  /** Reads the pair. Rejects with an `OptionError` if there is none that can be served. */
  static async open(files: TlsFiles, options: CertificateOptions): Promise<ServedCertificate> {
    const made = new ServedCertificate(files, options, readKeyPair(files));
    await options.use(made.#pair);
    made.#logValidity();
    made.#stopWatching = await watchFiles([files.certFile, files.keyFile], () => void made.check());
    made.#timer = setInterval(() => void made.check(), LOOK_EVERY_MS);
    made.#timer.unref();
    return made;
  }

  report(): TlsReport {
    const problem = this.#problem ?? this.#wrongTime();
    return {
      certificate: this.#files.certFile,
      validUntil: validUntil(this.#pair).toISOString(),
      ...(problem !== undefined && { problem }),
    };
  }

  /** Reads the files and applies a changed pair. Never rejects. */
  async check(): Promise<void> {
    const { logger, use } = this.#options;
    try {
      const pair = readKeyPair(this.#files);
      this.#problem = undefined;
      if (pair.cert === this.#pair.cert && pair.key === this.#pair.key) return this.#logValidity();
      await use(pair);
      this.#pair = pair;
      logger.info("The certificate was reloaded.", { validUntil: validUntil(pair).toISOString() });
      this.#logValidity();
    } catch (error) {
      const problem = `The certificate was not reloaded; the previous one is still served. ${messageOf(error)}`;
      if (problem !== this.#problem) logger.error(problem);
      this.#problem = problem;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#stopWatching();
  }

  /** Logs each problem with the validity period once per pair. */
  #logValidity(): void {
    const wrong = this.#wrongTime();
    if (wrong !== undefined && wrong !== this.#lastWarning)
      this.#options.logger.warning(`${wrong} Callers will refuse it.`);
    this.#lastWarning = wrong;
  }

  #wrongTime(): string | undefined {
    const [from, until] = [validFrom(this.#pair), validUntil(this.#pair)];
    const what = `The certificate in ${this.#files.certFile}`;
    if (until.getTime() < Date.now()) return `${what} expired on ${until.toISOString().slice(0, 10)}.`;
    if (from.getTime() > Date.now()) return `${what} is not valid before ${from.toISOString()}.`;
    return undefined;
  }
}
