/** A tool call of the scripted model. Arguments given as text are sent unchanged, also malformed ones. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: object | string;
}

/** One reply of the scripted model, independent of any vendor's format. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** The reply is truncated at the token limit. */
  readonly isCut?: boolean;
  /** The model refuses; the text is its reason. */
  readonly refusal?: string;
  readonly usage?: { readonly input: number; readonly output: number };
  /** Status of an error response that replaces the reply. */
  readonly status?: number;
  readonly message?: string;
  /** Body or event that is not valid JSON. */
  readonly broken?: string;
  /** Sends nothing, or nothing after the text. */
  readonly hangs?: boolean;
}

/** Returns arguments for a wire format that has them as text. */
export function argumentsText({ arguments: given }: ScriptedCall): string {
  return typeof given === "string" ? given : JSON.stringify(given);
}

export function idOf(call: ScriptedCall, index: number): string {
  return call.id ?? `call_${index + 1}_${call.name}`.slice(0, 40);
}

export function usageOf({ usage = { input: 10, output: 5 } }: ScriptedReply): {
  readonly input: number;
  readonly output: number;
} {
  return usage;
}

/** Splits a text into two pieces, so that a stream has more than one. */
export function pieces(text: string): readonly string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter((piece) => piece !== "");
}

/**
 * Format of one interface of a vendor: the whole body, or the events of a stream in order, each `data` or `event` and
 * `data`.
 */
export interface Wire {
  whole(reply: ScriptedReply, model: string): object;
  events(reply: ScriptedReply, model: string): readonly { readonly event?: string; readonly data: object | string }[];
  error(status: number, message: string): object;
}
