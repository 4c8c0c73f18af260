export { HubMCPBinding } from "../hub-mcp.ts";

/** Name of this module's binding class. */
export const BindingName = "HubMCPBinding";
