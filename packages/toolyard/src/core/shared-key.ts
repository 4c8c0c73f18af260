import { OptionError } from "./errors.ts";

/** Variable with the key that encrypts sign-ins. All hubs of a store must have the same key. */
export const KEY_VARIABLE = "TOOLYARD_VAULT_KEY";
export const KEY_BYTES = 32;

/** Returns the key in the variable, or `undefined` if it is not set. Throws an `OptionError` for an invalid key. */
export function keyIn(variables: Readonly<Record<string, string | undefined>>): Buffer | undefined {
  const text = variables[KEY_VARIABLE]?.trim();
  if (!text) return undefined;
  const key = parseKey(text);
  if (key) return key;
  throw new OptionError(
    `${KEY_VARIABLE} must be ${KEY_BYTES} random bytes in base64, as \`openssl rand -base64 ${KEY_BYTES}\` makes ` +
      "them. Its value is not shown.",
  );
}

/** Returns the key in the variable. `purpose` is the setting that needs it. Throws an `OptionError` without a key. */
export function sharedKey(variables: Readonly<Record<string, string | undefined>>, purpose: string): Buffer {
  const key = keyIn(variables);
  if (key) return key;
  throw new OptionError(
    `${purpose} with \`[store]\` needs the variable ${KEY_VARIABLE}, with the same value for all hubs: it encrypts ` +
      "what the hubs store. Use the value of the hubs. For the first hub, create one with " +
      `\`openssl rand -base64 ${KEY_BYTES}\`.`,
  );
}

/** Returns the error for state in a store that was encrypted with another key. `state` names the state. */
export function otherKeyError(state: string): OptionError {
  return new OptionError(
    `${KEY_VARIABLE} is not the key with which the ${state} in the store was encrypted. Give all hubs of the store ` +
      "the same value, and commands the value of the hubs.",
  );
}

export function parseKey(text: string): Buffer | undefined {
  const key = Buffer.from(text, "base64");
  return key.length === KEY_BYTES ? key : undefined;
}
