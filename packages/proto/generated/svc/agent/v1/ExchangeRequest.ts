// Original file: agent.proto


export interface ExchangeRequest {
}

export interface ExchangeRequest__Output {
}
