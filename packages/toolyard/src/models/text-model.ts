import { toSdkModel } from "./sdk-model.ts";
import type { GeneratedText, TextRequest } from "../core/ports/models.ts";
import { outboundTimeout } from "../outbound/failures.ts";
import { loadLanguageModel } from "./language-model.ts";
import { toModelFailure } from "./model-failure.ts";
import { parseModelName } from "./model-name.ts";
import type { ModelsOptions } from "./options.ts";
import { PACKAGES } from "./packages.ts";

/** Time limit of one answer, in milliseconds. */
const TIMEOUT_MS = 300_000;

export interface TextMaker {
  readonly signal: AbortSignal;
  readonly providers: ModelsOptions["providers"];
  /** Time limit of one answer, in milliseconds. @default 300000 */
  readonly timeoutMs?: number;
}

/** Generates one answer with the model `provider/model`. Rejects with a `FailError`. */
export async function generateText(
  name: string,
  request: TextRequest,
  { signal, providers, timeoutMs = TIMEOUT_MS }: TextMaker,
): Promise<GeneratedText> {
  const { prompt, system, maxTokens, temperature } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  let service = "The language model";
  try {
    service = `The language model of ${parseModelName(name, providers).provider.name}`;
    const [{ generateText: generate }, model] = await Promise.all([
      PACKAGES.sdk("the language model"),
      loadLanguageModel(name, { providers }),
    ]);
    const { text } = await generate({
      model: toSdkModel(model),
      prompt,
      ...(system === undefined ? {} : { system }),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      maxRetries: 1,
      abortSignal: AbortSignal.any([signal, timeout]),
    });
    return { text };
  } catch (error) {
    if (timeout.aborted && !signal.aborted) throw outboundTimeout(service, timeoutMs);
    throw toModelFailure(error, service, signal);
  }
}
