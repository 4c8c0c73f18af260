import { FailError, type FailKind, type ToolContext } from "toolyard";

/** Failure of a service, with a message for its caller. */
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
 * Makes expected failures of a handler the one error object, `{error}`, as JSON text. What is a
 * fault of the service itself is thrown, so that the hub logs it.
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

// No structured content: clients hold that against the tool's output schema, also when the result says that it is an
// error.
function errorResult(message: string, kind: FailKind): object {
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify({ error: message }) }],
    _meta: { "toolyard/kind": kind },
  };
}
