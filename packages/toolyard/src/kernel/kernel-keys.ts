import type { Access } from "../core/access.ts";
import type { HttpOptions } from "../http/options.ts";
import { serviceKey } from "../core/service-key.ts";
import type {
  ACCESS,
  ACCESS_PLAN,
  DATA_FOLDERS,
  GET_HUB,
  HUB_CONTROL,
  HUB,
  INNER_HUB,
  STARTED_AT,
  TOOLS,
  VARIABLES,
} from "../core/services.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { CERTIFICATE, DIALECTS } from "../endpoints/services.ts";
import type { MODULES_HOST } from "../providers/modules/services.ts";
import type { INSTALLS, UPSTREAM_STARTS } from "../providers/services.ts";
import type { STATE } from "../state/ports/store.ts";

/** Log options of the program that opens the hub. */
export interface LogSettings {
  /**
   * Logger of the program, which receives all lines without secrets. @default a log to standard error by `[logging]`
   */
  readonly logger?: Logger | undefined;
  /**
   * True if the program itself prints failures of calls to standard error, so that the log omits them there. @default
   * false
   */
  readonly printsFailures?: boolean | undefined;
  /** While it returns true, the log to standard error omits lines below `warning`. @default never */
  readonly isQuiet?: (() => boolean) | undefined;
}

/** Creates the access of one address at which the hub is served. */
export const CREATE_ACCESS = serviceKey<(http: HttpOptions) => Access>()("createAccess");
export const LOG_SETTINGS = serviceKey<LogSettings>()("logSettings");

/** Keys of services that the kernel provides and that live as long as the hub. */
export type KernelHubKey =
  | typeof VARIABLES
  | typeof DATA_FOLDERS
  | typeof GET_HUB
  | typeof HUB_CONTROL
  | typeof INNER_HUB
  | typeof STARTED_AT
  | typeof ACCESS_PLAN
  | typeof CREATE_ACCESS
  | typeof LOG_SETTINGS
  | typeof STATE
  | typeof INSTALLS
  | typeof UPSTREAM_STARTS
  | typeof MODULES_HOST;

/** Keys of services that the kernel provides for each address at which the hub is served. */
export type KernelServingKey = typeof HUB | typeof TOOLS | typeof ACCESS | typeof CERTIFICATE | typeof DIALECTS;

/** Keys of the services that features need not provide. */
export type KernelKey = KernelHubKey | KernelServingKey;
