import { OptionError } from "../core/errors.ts";
import { nearest } from "../core/text/suggest.ts";
import type { ModelProvider } from "./model-provider.ts";

export interface ModelName {
  readonly provider: ModelProvider;
  /** Name of the model at the provider; may contain slashes. */
  readonly model: string;
}

/** Parses `provider/model`. Throws an `OptionError` that lists the providers. */
export function parseModelName(name: string, providers: Readonly<Record<string, ModelProvider>>): ModelName {
  const slash = name.indexOf("/");
  const model = name.slice(slash + 1);
  if (slash < 1 || model === "")
    throw new OptionError(
      `A model name has the form \`provider/model\`, such as "mistral/mistral-large-latest"; got ` +
        `${JSON.stringify(name)}.`,
    );
  const wanted = name.slice(0, slash);
  if (Object.hasOwn(providers, wanted)) return { provider: providers[wanted]!, model };
  const names = Object.keys(providers);
  const [near] = nearest(wanted, names, 1);
  const hint = near === undefined ? `There are ${names.join(", ")}` : `Did you mean "${near}"`;
  throw new OptionError(
    `Unknown model provider "${wanted}". ${hint}${near === undefined ? "" : "?"} An entry ` +
      `\`[models.providers.${wanted}]\` adds one.`,
  );
}

/** Throws an `OptionError` with the variable's name, in one line, if a required key is missing. */
export function assertKey({ name, needsKey, apiKey, keyVariables }: ModelProvider): void {
  if (!needsKey || apiKey !== undefined) return;
  throw new OptionError(
    `There is no key for ${name}: set the variable ${keyVariables[0]}, or \`api_key\` in [models.providers.${name}].`,
  );
}
