#!/usr/bin/env node
import { runService } from "toolyard/service/run";
import { gnn } from "./service.ts";

await runService(gnn);
