export { LocalMCPBinding } from "../local-mcp.ts";

/** Name of this module's binding class. */
export const BindingName = "LocalMCPBinding";
