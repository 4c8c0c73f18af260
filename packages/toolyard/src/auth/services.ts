import { serviceKey } from "../core/service-key.ts";
import type { AuthServerHandle } from "./builtin/auth-server-handle.ts";

/** Returns the authorization server of the hub; throws if the mode `builtin` is off. */
export const AUTH_SERVER = serviceKey<() => AuthServerHandle>()("authServer");
