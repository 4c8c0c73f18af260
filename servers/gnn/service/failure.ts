import { FailError, type FailKind } from "toolyard";

/** What a tool cannot do, in words for its caller; `kind` decides what each protocol makes of it. */
export class ToolFailure extends FailError {
  constructor(message: string, kind: FailKind = "tool_error") {
    super({ ok: false, kind, message, retryable: false });
  }

  get kind(): FailKind {
    return this.failure.kind;
  }
}
