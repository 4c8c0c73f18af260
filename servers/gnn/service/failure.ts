import { FailError, type FailKind } from "toolyard";
import { UnknownModel } from "../language/choose-models.ts";
import { ProgramError } from "../programs/program-error.ts";

/** What a tool cannot do, in words for its caller; `kind` decides what each protocol makes of it. */
export class ToolFailure extends FailError {
  constructor(message: string, kind: FailKind = "tool_error") {
    super({ ok: false, kind, message, retryable: false });
  }

  get kind(): FailKind {
    return this.failure.kind;
  }
}

/** Does what a model may stand in the way of, and says so to the caller as a wrong argument. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isModels = error instanceof ProgramError || error instanceof UnknownModel;
    throw isModels ? new ToolFailure(error.message, "invalid_params") : error;
  }
}
