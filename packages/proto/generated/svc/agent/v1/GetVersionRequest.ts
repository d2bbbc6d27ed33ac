// Original file: agent.proto


export interface GetVersionRequest {
}

export interface GetVersionRequest__Output {
}
