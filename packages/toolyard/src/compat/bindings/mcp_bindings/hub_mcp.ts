export { HubMCPBinding } from "../hub-mcp.ts";

/** The class of this module that is the binding. */
export const BindingName = "HubMCPBinding";
