export interface RegisteredOidcClient {
  readonly clientId: string;
  readonly clientName?: string;
}

export interface ErrorContext {
  body: unknown;
  type: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Request to the page at which a user enters the code of a device (RFC 8628 section 3.3). */
export interface DeviceContext extends ErrorContext {
  readonly query: Readonly<Record<string, unknown>>;
  readonly oidc: { readonly session?: DeviceSession };
}

interface DeviceSession {
  readonly state?: { readonly secret?: string };
  /** Expiry time. Absent until the session is stored. */
  readonly exp?: number;
  /** True if the library must store the session after the request. */
  touched: boolean;
}

/** `form`: the form was not sent by this page, or the sign-in has ended. */
type DeviceProblem = "unknown" | "denied" | "form";

/** Page of the device flow: a form for the code, a form that confirms it, or the end. */
export type DevicePage =
  | { readonly kind: "input"; readonly csrf: string; readonly problem?: DeviceProblem }
  | { readonly kind: "confirm"; readonly csrf: string; readonly client: RegisteredOidcClient; readonly code: string }
  | { readonly kind: "done" };

/** Returns the library's settings for sign-ins of devices without a browser (RFC 8628). */
export function deviceFlowOf(render: (context: DeviceContext, page: DevicePage) => void): object {
  const csrfOf = ({ oidc }: DeviceContext): string => oidc.session?.state?.secret ?? "";
  return {
    enabled: true,
    userCodeInputSource: (context: DeviceContext, ...[, , error]: InputFacts) => {
      const { session } = context.oidc;
      // Prevents `oidc-provider` from storing a session that begins with a refused form, because that would fail.
      if (error && session && session.exp === undefined) session.touched = false;
      const problem = error && (DEVICE_PROBLEMS[error.name] ?? "form");
      render(context, { kind: "input", csrf: csrfOf(context), ...(problem && { problem }) });
    },
    userCodeConfirmSource: (context: DeviceContext, ...[, client, , code]: ConfirmFacts) =>
      render(context, { kind: "confirm", csrf: csrfOf(context), client, code }),
    successSource: (context: DeviceContext) => render(context, { kind: "done" }),
  };
}

/** Problem for each error class of `oidc-provider`, by the name of the class. */
const DEVICE_PROBLEMS: Readonly<Record<string, DeviceProblem>> = {
  AbortedError: "denied",
  NoCodeError: "unknown",
  NotFoundError: "unknown",
  ExpiredError: "unknown",
  AlreadyUsedError: "unknown",
};

/** Arguments of `userCodeInputSource` after the context: the library's own form, the error as an object, the error. */
type InputFacts = [form: string, out?: object, error?: Error];

/**
 * Arguments of `userCodeConfirmSource` after the context: the library's own form, the client, facts about the device,
 * the user code.
 */
type ConfirmFacts = [form: string, client: RegisteredOidcClient, device: object, code: string];
