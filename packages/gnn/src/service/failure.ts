import { FailError, type FailKind } from "toolyard";
import { UnknownModel } from "../language/choose-models.ts";
import { ProgramError } from "../programs/program-error.ts";

/** Error of a tool, with a message for its caller. `kind` determines the error code of each protocol. */
export class ToolFailure extends FailError {
  constructor(message: string, kind: FailKind = "tool_error") {
    super({ ok: false, kind, message, retryable: false });
  }

  get kind(): FailKind {
    return this.failure.kind;
  }
}

/** Runs `work` and reports errors caused by a model as invalid arguments. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isModels = error instanceof ProgramError || error instanceof UnknownModel;
    throw isModels ? new ToolFailure(error.message, "invalid_params") : error;
  }
}
