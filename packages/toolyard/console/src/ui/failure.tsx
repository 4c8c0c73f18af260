import { useState } from "preact/hooks";
import { ApiError } from "../api.ts";
import { Foreign, Outcome } from "./parts.tsx";

export function Failure({ error }: { readonly error: ApiError }) {
  return (
    <div class="notice" role="alert">
      <Outcome outcome={error.kind} /> <Foreign text={error.message} />
    </div>
  );
}

export interface ActionState {
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  /** Runs a change of the hub, one at a time. A failure is kept until the next change. */
  readonly act: (work: () => Promise<void>) => Promise<void>;
}

/** Returns the state of the changes that a view sends to the hub. */
export function useAction(): ActionState {
  const [state, setState] = useState<Omit<ActionState, "act">>({ isBusy: false, error: undefined });
  const act = async (work: () => Promise<void>): Promise<void> => {
    setState({ isBusy: true, error: undefined });
    try {
      await work();
      setState({ isBusy: false, error: undefined });
    } catch (failure) {
      const error =
        failure instanceof ApiError ? failure : new ApiError(0, { kind: "internal", message: String(failure) });
      setState({ isBusy: false, error });
    }
  };
  return { ...state, act };
}
