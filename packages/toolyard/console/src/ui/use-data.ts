import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "../api.ts";
import { changes } from "../live.ts";

export interface DataState<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly reload: () => Promise<void>;
}

/** Reads a path of the API. Reads it again when one of the `parts` of the hub's state changes. */
export function useData<T>(path: string, ...parts: readonly (keyof typeof changes.value)[]): DataState<T> {
  const [state, setState] = useState<{ readonly path: string; readonly data?: T; readonly error?: ApiError }>({ path });
  const count = parts.reduce((sum, part) => sum + changes.value[part], 0);
  // An action and an event of the hub can cause overlapping requests. A late answer must not replace a newer one.
  const order = useRef({ sent: 0, shown: 0 });
  const load = useCallback(
    async (signal?: AbortSignal) => {
      const number = ++order.current.sent;
      const show = (answer: { readonly data?: T; readonly error?: ApiError }): void => {
        if (number < order.current.shown) return;
        order.current.shown = number;
        setState({ path, ...answer });
      };
      try {
        show({ data: await get<T>(path, signal) });
      } catch (error) {
        if (error instanceof ApiError) show({ error });
      }
    },
    [path],
  );
  useEffect(() => {
    const aborter = new AbortController();
    void load(aborter.signal);
    return () => aborter.abort();
  }, [load, count]);
  const isOld = state.path !== path;
  return { data: isOld ? undefined : state.data, error: isOld ? undefined : state.error, reload: () => load() };
}
