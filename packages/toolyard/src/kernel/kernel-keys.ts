import type { Access } from "../core/access.ts";
import type { HttpOptions } from "../http/options.ts";
import { serviceKey } from "../core/service-key.ts";
import type {
  ACCESS,
  ACCESS_PLAN,
  DATA_FOLDERS,
  GET_HUB,
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

/** How the program that opens a hub changes its log. */
export interface LogSettings {
  /** A program's own logger, which receives all lines without secrets. @default from `[logging]`, on standard error */
  readonly logger?: Logger | undefined;
  /** Failures of calls are printed on standard error anyway, so the log there omits them. @default false */
  readonly printsFailures?: boolean | undefined;
  /** While it returns true, the log on standard error omits lines below `warning`. @default never */
  readonly isQuiet?: (() => boolean) | undefined;
}

/** Creates the access of one place that the hub is served at. */
export const CREATE_ACCESS = serviceKey<(http: HttpOptions) => Access>()("createAccess");
export const LOG_SETTINGS = serviceKey<LogSettings>()("logSettings");

/** Keys of the services that the kernel provides for as long as a hub lives. */
export type KernelHubKey =
  | typeof VARIABLES
  | typeof DATA_FOLDERS
  | typeof GET_HUB
  | typeof INNER_HUB
  | typeof STARTED_AT
  | typeof ACCESS_PLAN
  | typeof CREATE_ACCESS
  | typeof LOG_SETTINGS
  | typeof STATE
  | typeof INSTALLS
  | typeof UPSTREAM_STARTS
  | typeof MODULES_HOST;

/** Keys of the services that the kernel provides for each place that the hub is served at. */
export type KernelServingKey = typeof HUB | typeof TOOLS | typeof ACCESS | typeof CERTIFICATE | typeof DIALECTS;

/** Keys of the services that features need not provide. */
export type KernelKey = KernelHubKey | KernelServingKey;
