import type { Option } from "commander";
import type { CommandRow } from "./command-row.ts";
import { accessRows } from "./access-rows.ts";
import { auditRow } from "./audit-row.ts";
import { coreRow } from "./core-row.ts";
import { extrasRow } from "./extras-row.ts";
import { gnnRow } from "./gnn-row.ts";
import { libraryRow } from "./library-row.ts";
import { openRow } from "./open-row.ts";
import { scheduleRow } from "./schedule-rows.ts";
import { serviceRow } from "./service-row.ts";
import { setupRows } from "./setup-rows.ts";
import { sharedHubRows } from "./shared-hub-rows.ts";
import { signInRows } from "./sign-in-rows.ts";
import { tokensRow } from "./tokens-row.ts";
import { topRow } from "./top-row.ts";
import { taskRow } from "./task-rows.ts";
import { userRows } from "./user-rows.ts";

/** Options shared by commands of several files. */
export interface CommonOptions {
  readonly config: Option;
  readonly yes: Option;
  readonly json: Option;
  readonly verbose: Option;
  readonly timeout: Option;
  readonly tokenEnv: Option;
  readonly url: Option;
}

/**
 * Returns commands that most runs do not need: the setup commands, and the last commands of the help. They are loaded
 * together.
 */
export function furtherRows(options: CommonOptions): {
  readonly setup: readonly CommandRow[];
  readonly last: readonly CommandRow[];
} {
  const { config, yes, json, verbose, timeout, url, tokenEnv } = options;
  return {
    setup: setupRows(options),
    last: [
      openRow([config, yes, url, tokenEnv, json, verbose]),
      topRow([config, yes, url, tokenEnv, json, verbose]),
      taskRow([config, yes, url, tokenEnv, json, verbose]),
      scheduleRow([config, yes, url, tokenEnv, json, verbose]),
      tokensRow([config, yes, json, verbose]),
      ...sharedHubRows([config, json]),
      auditRow([config, json]),
      ...accessRows([config, yes, json], options),
      ...signInRows([config, yes, json], timeout),
      ...userRows([config, yes, json]),
      serviceRow([config, yes, json]),
      extrasRow(json),
      gnnRow(json),
      libraryRow([config, yes, json]),
      coreRow([config, yes, verbose]),
    ],
  };
}
