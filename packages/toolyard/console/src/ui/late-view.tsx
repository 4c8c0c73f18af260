import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api.ts";
import { Pending } from "./parts.tsx";

/** Returns a view whose code is loaded when it is shown for the first time. */
export function lateView<P extends object = object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function LateView(props: P) {
    const [state, setState] = useState<{ readonly view?: ComponentType<P> | undefined; readonly error?: ApiError }>({
      view: loaded,
    });
    const read = async (): Promise<void> => {
      try {
        loaded = await load();
        setState({ view: loaded });
      } catch (error) {
        setState({ error: new ApiError(0, { kind: "unavailable", message: String(error) }) });
      }
    };
    useEffect(() => {
      if (!loaded) void read();
    }, []);
    const { view: View, error } = state;
    return View ? <View {...props} /> : <Pending error={error} retry={read} />;
  };
}
