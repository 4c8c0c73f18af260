import { FailError, type FailKind, type ToolContext } from "toolyard";

/** Failure of a service. The caller receives the message. */
export class ServiceFailure extends Error {
  override readonly name = "ServiceFailure";
  readonly kind: FailKind;

  constructor(message: string, kind: FailKind = "tool_error") {
    super(message);
    this.kind = kind;
  }
}

type ServiceToolHandler<A extends object> = (args: A, context: ToolContext) => Promise<object>;

/**
 * Turns expected failures of a handler into the error object `{error}`, as JSON text. Faults of the service itself are
 * thrown, so that the hub logs them.
 */
export function answering<A extends object>(handler: ServiceToolHandler<A>): ServiceToolHandler<A> {
  return async (args, context) => {
    try {
      return await handler(args, context);
    } catch (error) {
      if (context.signal.aborted) throw error;
      if (error instanceof ServiceFailure) return errorResult(error.message, error.kind);
      if (error instanceof FailError) return errorResult(error.message, error.failure.kind);
      throw error;
    }
  };
}

// No structured content: clients validate it against the tool's output schema even if `isError` is set.
function errorResult(message: string, kind: FailKind): object {
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify({ error: message }) }],
    _meta: { "toolyard/kind": kind },
  };
}
