import { serviceKey } from "../core/service-key.ts";
import type { AuthServerHandle } from "./builtin/auth-server-handle.ts";

/** Key of the service that returns the hub's authorization server. The service throws if the mode `builtin` is off. */
export const AUTH_SERVER = serviceKey<() => AuthServerHandle>()("authServer");
