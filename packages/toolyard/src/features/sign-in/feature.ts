import { DATA_FOLDERS, SIGN_INS } from "../../core/services.ts";
import { SignInCoordinator } from "../../core/ports/sign-in-coordinator.ts";
import { SIGN_IN as SIGN_IN_PAGES } from "../../endpoints/sign-in/kind.ts";
import { defineFeature } from "../../kernel/feature.ts";

/** Feature: sign-ins of users and of the hub to servers. */
export const SIGN_IN = defineFeature({
  name: "sign-in",
  uses: [DATA_FOLDERS],
  provides: [SIGN_INS],
  endpoints: [SIGN_IN_PAGES],
  start: ({ dataFolders: { vault } }) => ({ services: { signIns: new SignInCoordinator(vault) } }),
});
