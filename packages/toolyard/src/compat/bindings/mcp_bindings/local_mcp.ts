export { LocalMCPBinding } from "../local-mcp.ts";

/** The class of this module that is the binding. */
export const BindingName = "LocalMCPBinding";
