import type { DeviceContext, DeviceProblem, ProviderParts, RegisteredOidcClient } from "./provider.ts";

/** Returns the library's settings for sign-ins of devices without a browser (RFC 8628). */
export function deviceFlowOf(render: ProviderParts["renderDevicePage"]): object {
  const csrfOf = ({ oidc }: DeviceContext): string => oidc.session?.state?.secret ?? "";
  return {
    enabled: true,
    userCodeInputSource: (context: DeviceContext, ...[, , error]: InputFacts) => {
      const { session } = context.oidc;
      // The library cannot store a session that begins with a refused form.
      if (error && session && session.exp === undefined) session.touched = false;
      const problem = error && (DEVICE_PROBLEMS[error.name] ?? "form");
      render(context, { kind: "input", csrf: csrfOf(context), ...(problem && { problem }) });
    },
    userCodeConfirmSource: (context: DeviceContext, ...[, client, , code]: ConfirmFacts) =>
      render(context, { kind: "confirm", csrf: csrfOf(context), client, code }),
    successSource: (context: DeviceContext) => render(context, { kind: "done" }),
  };
}

/** Problems by the error of the library. */
const DEVICE_PROBLEMS: Readonly<Record<string, DeviceProblem>> = {
  AbortedError: "denied",
  NoCodeError: "unknown",
  NotFoundError: "unknown",
  ExpiredError: "unknown",
  AlreadyUsedError: "unknown",
};

/** Arguments of the library after the context: its own form, the error as an object, the error. */
type InputFacts = [form: string, out?: object, error?: Error];

/** Arguments of the library after the context: its own form, the client, facts about the device, the code. */
type ConfirmFacts = [form: string, client: RegisteredOidcClient, device: object, code: string];
