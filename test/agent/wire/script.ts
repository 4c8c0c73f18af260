/** A tool call as the scripted model writes it; arguments given as text go out as they are, broken ones too. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: object | string;
}

/** One reply of the scripted model, in no vendor's words. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** The model was cut off because it may write no more. */
  readonly isCut?: boolean;
  /** The model declines; the text is its reason. */
  readonly refusal?: string;
  readonly usage?: { readonly input: number; readonly output: number };
  /** An error of the provider in place of a reply. */
  readonly status?: number;
  readonly message?: string;
  /** A body or event that is no JSON. */
  readonly broken?: string;
  /** Nothing comes, or nothing further after the text. */
  readonly hangs?: boolean;
}

/** Arguments on the wire, where they are a text. */
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

/** A text in two pieces, so that streams have more than one. */
export function pieces(text: string): readonly string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter((piece) => piece !== "");
}

/**
 * How one interface of a vendor looks: the whole body, or the events of a stream in order, each `data` or `event` and
 * `data`.
 */
export interface Wire {
  whole(reply: ScriptedReply, model: string): object;
  events(reply: ScriptedReply, model: string): readonly { readonly event?: string; readonly data: object | string }[];
  error(status: number, message: string): object;
}
