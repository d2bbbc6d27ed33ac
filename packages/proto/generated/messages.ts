// Original file: agent.proto
// @ts-nocheck: made by protobufjs
import protobuf from 'protobufjs/minimal.js';

const { Reader, Writer, util } = protobuf;

export const METHODS = {
  "Exchange": {
    "request": "ExchangeRequest",
    "reply": "ExchangeReply",
    "requestStream": false,
    "responseStream": false
  },
  "Join": {
    "request": "JoinRequest",
    "reply": "JoinReply",
    "requestStream": false,
    "responseStream": false
  },
  "Work": {
    "request": "WorkRequest",
    "reply": "Order",
    "requestStream": false,
    "responseStream": true
  },
  "Start": {
    "request": "StartRequest",
    "reply": "StartReply",
    "requestStream": false,
    "responseStream": false
  },
  "Heartbeat": {
    "request": "HeartbeatRequest",
    "reply": "HeartbeatReply",
    "requestStream": false,
    "responseStream": false
  },
  "AppendLog": {
    "request": "AppendLogRequest",
    "reply": "AppendLogReply",
    "requestStream": false,
    "responseStream": false
  },
  "Finish": {
    "request": "FinishRequest",
    "reply": "FinishReply",
    "requestStream": false,
    "responseStream": false
  },
  "Call": {
    "request": "CallRequest",
    "reply": "CallReply",
    "requestStream": false,
    "responseStream": false
  },
  "GetVersion": {
    "request": "GetVersionRequest",
    "reply": "Version",
    "requestStream": false,
    "responseStream": false
  }
};

type GeneratedMessage = {
  fromObject(message: object): object;
  encode(message: object): protobuf.Writer;
  decode(bytes: Buffer): object;
  toObject(message: object, options: object): object;
};

export const MESSAGES: Record<string, GeneratedMessage> = {
ExchangeRequest: {
ctor: function ExchangeRequest(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function ExchangeRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  return w
},
decode: function ExchangeRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function ExchangeRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  return new this.ctor
},
toObject: function (){
  return {}
}
},
ExchangeReply: {
ctor: function ExchangeReply(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function ExchangeReply$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token"))
  w.uint32(10).string(m.token)
  if(m.version_key!=null&&Object.hasOwnProperty.call(m,"version_key"))
  w.uint32(18).string(m.version_key)
  return w
},
decode: function ExchangeReply$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.token=r.string()
  break
  }
  case 2: {
  m.version_key=r.string()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function ExchangeReply$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.ExchangeReply: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.token!=null){
  m.token=String(d.token)
  }
  if(d.version_key!=null){
  m.version_key=String(d.version_key)
  }
  return m
},
toObject: function ExchangeReply$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.token=""
  d.version_key=""
  }
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token")){
  d.token=m.token
  }
  if(m.version_key!=null&&Object.hasOwnProperty.call(m,"version_key")){
  d.version_key=m.version_key
  }
  return d
}
},
JoinRequest: {
ctor: function JoinRequest(p){
  this.queues=[]
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function JoinRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.hostname!=null&&Object.hasOwnProperty.call(m,"hostname"))
  w.uint32(10).string(m.hostname)
  if(m.version!=null&&Object.hasOwnProperty.call(m,"version"))
  w.uint32(18).string(m.version)
  if(m.name!=null&&Object.hasOwnProperty.call(m,"name"))
  w.uint32(26).string(m.name)
  if(m.queues!=null&&m.queues.length){
  for(var i=0;i<m.queues.length;++i)
  w.uint32(34).string(m.queues[i])
  }
  if(m.slots!=null&&Object.hasOwnProperty.call(m,"slots"))
  w.uint32(40).int32(m.slots)
  return w
},
decode: function JoinRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.hostname=r.string()
  break
  }
  case 2: {
  m.version=r.string()
  break
  }
  case 3: {
  m.name=r.string()
  break
  }
  case 4: {
  if(!(m.queues&&m.queues.length))
  m.queues=[]
  m.queues.push(r.string())
  break
  }
  case 5: {
  m.slots=r.int32()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function JoinRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.JoinRequest: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.hostname!=null){
  m.hostname=String(d.hostname)
  }
  if(d.version!=null){
  m.version=String(d.version)
  }
  if(d.name!=null){
  m.name=String(d.name)
  }
  if(d.queues){
  if(!Array.isArray(d.queues))
  throw TypeError(".svc.agent.v1.JoinRequest.queues: array expected")
  m.queues=[]
  for(var i=0;i<d.queues.length;++i){
  m.queues[i]=String(d.queues[i])
  }
  }
  if(d.slots!=null){
  m.slots=d.slots|0
  }
  return m
},
toObject: function JoinRequest$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.queues=[]
  }
  if(o.defaults){
  d.hostname=""
  d.version=""
  d.name=""
  d.slots=0
  }
  if(m.hostname!=null&&Object.hasOwnProperty.call(m,"hostname")){
  d.hostname=m.hostname
  }
  if(m.version!=null&&Object.hasOwnProperty.call(m,"version")){
  d.version=m.version
  }
  if(m.name!=null&&Object.hasOwnProperty.call(m,"name")){
  d.name=m.name
  }
  if(m.queues&&m.queues.length){
  d.queues=[]
  for(var j=0;j<m.queues.length;++j){
  d.queues[j]=m.queues[j]
  }
  }
  if(m.slots!=null&&Object.hasOwnProperty.call(m,"slots")){
  d.slots=m.slots
  }
  return d
}
},
JoinReply: {
ctor: function JoinReply(p){
  this.queues=[]
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function JoinReply$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token"))
  w.uint32(10).string(m.token)
  if(m.worker_id!=null&&Object.hasOwnProperty.call(m,"worker_id"))
  w.uint32(18).string(m.worker_id)
  if(m.queues!=null&&m.queues.length){
  for(var i=0;i<m.queues.length;++i)
  w.uint32(26).string(m.queues[i])
  }
  return w
},
decode: function JoinReply$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.token=r.string()
  break
  }
  case 2: {
  m.worker_id=r.string()
  break
  }
  case 3: {
  if(!(m.queues&&m.queues.length))
  m.queues=[]
  m.queues.push(r.string())
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function JoinReply$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.JoinReply: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.token!=null){
  m.token=String(d.token)
  }
  if(d.worker_id!=null){
  m.worker_id=String(d.worker_id)
  }
  if(d.queues){
  if(!Array.isArray(d.queues))
  throw TypeError(".svc.agent.v1.JoinReply.queues: array expected")
  m.queues=[]
  for(var i=0;i<d.queues.length;++i){
  m.queues[i]=String(d.queues[i])
  }
  }
  return m
},
toObject: function JoinReply$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.queues=[]
  }
  if(o.defaults){
  d.token=""
  d.worker_id=""
  }
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token")){
  d.token=m.token
  }
  if(m.worker_id!=null&&Object.hasOwnProperty.call(m,"worker_id")){
  d.worker_id=m.worker_id
  }
  if(m.queues&&m.queues.length){
  d.queues=[]
  for(var j=0;j<m.queues.length;++j){
  d.queues[j]=m.queues[j]
  }
  }
  return d
}
},
WorkRequest: {
ctor: function WorkRequest(p){
  this.running_tokens=[]
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function WorkRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.hostname!=null&&Object.hasOwnProperty.call(m,"hostname"))
  w.uint32(10).string(m.hostname)
  if(m.pid!=null&&Object.hasOwnProperty.call(m,"pid"))
  w.uint32(16).int32(m.pid)
  if(m.version!=null&&Object.hasOwnProperty.call(m,"version"))
  w.uint32(26).string(m.version)
  if(m.running_tokens!=null&&m.running_tokens.length){
  for(var i=0;i<m.running_tokens.length;++i)
  w.uint32(58).string(m.running_tokens[i])
  }
  return w
},
decode: function WorkRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.hostname=r.string()
  break
  }
  case 2: {
  m.pid=r.int32()
  break
  }
  case 3: {
  m.version=r.string()
  break
  }
  case 7: {
  if(!(m.running_tokens&&m.running_tokens.length))
  m.running_tokens=[]
  m.running_tokens.push(r.string())
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function WorkRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.WorkRequest: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.hostname!=null){
  m.hostname=String(d.hostname)
  }
  if(d.pid!=null){
  m.pid=d.pid|0
  }
  if(d.version!=null){
  m.version=String(d.version)
  }
  if(d.running_tokens){
  if(!Array.isArray(d.running_tokens))
  throw TypeError(".svc.agent.v1.WorkRequest.running_tokens: array expected")
  m.running_tokens=[]
  for(var i=0;i<d.running_tokens.length;++i){
  m.running_tokens[i]=String(d.running_tokens[i])
  }
  }
  return m
},
toObject: function WorkRequest$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.running_tokens=[]
  }
  if(o.defaults){
  d.hostname=""
  d.pid=0
  d.version=""
  }
  if(m.hostname!=null&&Object.hasOwnProperty.call(m,"hostname")){
  d.hostname=m.hostname
  }
  if(m.pid!=null&&Object.hasOwnProperty.call(m,"pid")){
  d.pid=m.pid
  }
  if(m.version!=null&&Object.hasOwnProperty.call(m,"version")){
  d.version=m.version
  }
  if(m.running_tokens&&m.running_tokens.length){
  d.running_tokens=[]
  for(var j=0;j<m.running_tokens.length;++j){
  d.running_tokens[j]=m.running_tokens[j]
  }
  }
  return d
}
},
Order: {
ctor: function Order(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Order$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.assignment!=null&&Object.hasOwnProperty.call(m,"assignment"))
  MESSAGES.Assignment.encode(m.assignment,w.uint32(10).fork(),q+1).ldelim()
  if(m.cancel!=null&&Object.hasOwnProperty.call(m,"cancel"))
  MESSAGES.Cancel.encode(m.cancel,w.uint32(18).fork(),q+1).ldelim()
  if(m.credential!=null&&Object.hasOwnProperty.call(m,"credential"))
  MESSAGES.WorkerCredential.encode(m.credential,w.uint32(26).fork(),q+1).ldelim()
  if(m.drain!=null&&Object.hasOwnProperty.call(m,"drain"))
  MESSAGES.Drain.encode(m.drain,w.uint32(34).fork(),q+1).ldelim()
  return w
},
decode: function Order$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.assignment=MESSAGES.Assignment.decode(r,r.uint32(),undefined,n+1)
  break
  }
  case 2: {
  m.cancel=MESSAGES.Cancel.decode(r,r.uint32(),undefined,n+1)
  break
  }
  case 3: {
  m.credential=MESSAGES.WorkerCredential.decode(r,r.uint32(),undefined,n+1)
  break
  }
  case 4: {
  m.drain=MESSAGES.Drain.decode(r,r.uint32(),undefined,n+1)
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Order$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Order: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.assignment!=null){
  if(!util.isObject(d.assignment))
  throw TypeError(".svc.agent.v1.Order.assignment: object expected")
  m.assignment=MESSAGES.Assignment.fromObject(d.assignment,n+1)
  }
  if(d.cancel!=null){
  if(!util.isObject(d.cancel))
  throw TypeError(".svc.agent.v1.Order.cancel: object expected")
  m.cancel=MESSAGES.Cancel.fromObject(d.cancel,n+1)
  }
  if(d.credential!=null){
  if(!util.isObject(d.credential))
  throw TypeError(".svc.agent.v1.Order.credential: object expected")
  m.credential=MESSAGES.WorkerCredential.fromObject(d.credential,n+1)
  }
  if(d.drain!=null){
  if(!util.isObject(d.drain))
  throw TypeError(".svc.agent.v1.Order.drain: object expected")
  m.drain=MESSAGES.Drain.fromObject(d.drain,n+1)
  }
  return m
},
toObject: function Order$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(m.assignment!=null&&Object.hasOwnProperty.call(m,"assignment")){
  d.assignment=MESSAGES.Assignment.toObject(m.assignment,o,q+1)
  if(o.oneofs)
  d.order="assignment"
  }
  if(m.cancel!=null&&Object.hasOwnProperty.call(m,"cancel")){
  d.cancel=MESSAGES.Cancel.toObject(m.cancel,o,q+1)
  if(o.oneofs)
  d.order="cancel"
  }
  if(m.credential!=null&&Object.hasOwnProperty.call(m,"credential")){
  d.credential=MESSAGES.WorkerCredential.toObject(m.credential,o,q+1)
  if(o.oneofs)
  d.order="credential"
  }
  if(m.drain!=null&&Object.hasOwnProperty.call(m,"drain")){
  d.drain=MESSAGES.Drain.toObject(m.drain,o,q+1)
  if(o.oneofs)
  d.order="drain"
  }
  return d
}
},
Assignment: {
ctor: function Assignment(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Assignment$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.attempt_id!=null&&Object.hasOwnProperty.call(m,"attempt_id"))
  w.uint32(10).string(m.attempt_id)
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token"))
  w.uint32(18).string(m.token)
  if(m.version_key!=null&&Object.hasOwnProperty.call(m,"version_key"))
  w.uint32(26).string(m.version_key)
  if(m.dag_id!=null&&Object.hasOwnProperty.call(m,"dag_id"))
  w.uint32(34).string(m.dag_id)
  if(m.task_id!=null&&Object.hasOwnProperty.call(m,"task_id"))
  w.uint32(42).string(m.task_id)
  if(m.map_index!=null&&Object.hasOwnProperty.call(m,"map_index"))
  w.uint32(48).int32(m.map_index)
  if(m.try_number!=null&&Object.hasOwnProperty.call(m,"try_number"))
  w.uint32(56).int32(m.try_number)
  return w
},
decode: function Assignment$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.attempt_id=r.string()
  break
  }
  case 2: {
  m.token=r.string()
  break
  }
  case 3: {
  m.version_key=r.string()
  break
  }
  case 4: {
  m.dag_id=r.string()
  break
  }
  case 5: {
  m.task_id=r.string()
  break
  }
  case 6: {
  m.map_index=r.int32()
  break
  }
  case 7: {
  m.try_number=r.int32()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Assignment$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Assignment: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.attempt_id!=null){
  m.attempt_id=String(d.attempt_id)
  }
  if(d.token!=null){
  m.token=String(d.token)
  }
  if(d.version_key!=null){
  m.version_key=String(d.version_key)
  }
  if(d.dag_id!=null){
  m.dag_id=String(d.dag_id)
  }
  if(d.task_id!=null){
  m.task_id=String(d.task_id)
  }
  if(d.map_index!=null){
  m.map_index=d.map_index|0
  }
  if(d.try_number!=null){
  m.try_number=d.try_number|0
  }
  return m
},
toObject: function Assignment$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.attempt_id=""
  d.token=""
  d.version_key=""
  d.dag_id=""
  d.task_id=""
  d.map_index=0
  d.try_number=0
  }
  if(m.attempt_id!=null&&Object.hasOwnProperty.call(m,"attempt_id")){
  d.attempt_id=m.attempt_id
  }
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token")){
  d.token=m.token
  }
  if(m.version_key!=null&&Object.hasOwnProperty.call(m,"version_key")){
  d.version_key=m.version_key
  }
  if(m.dag_id!=null&&Object.hasOwnProperty.call(m,"dag_id")){
  d.dag_id=m.dag_id
  }
  if(m.task_id!=null&&Object.hasOwnProperty.call(m,"task_id")){
  d.task_id=m.task_id
  }
  if(m.map_index!=null&&Object.hasOwnProperty.call(m,"map_index")){
  d.map_index=m.map_index
  }
  if(m.try_number!=null&&Object.hasOwnProperty.call(m,"try_number")){
  d.try_number=m.try_number
  }
  return d
}
},
Cancel: {
ctor: function Cancel(p){
  this.attempt_ids=[]
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Cancel$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.attempt_ids!=null&&m.attempt_ids.length){
  for(var i=0;i<m.attempt_ids.length;++i)
  w.uint32(10).string(m.attempt_ids[i])
  }
  if(m.reason!=null&&Object.hasOwnProperty.call(m,"reason"))
  w.uint32(18).string(m.reason)
  return w
},
decode: function Cancel$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  if(!(m.attempt_ids&&m.attempt_ids.length))
  m.attempt_ids=[]
  m.attempt_ids.push(r.string())
  break
  }
  case 2: {
  m.reason=r.string()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Cancel$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Cancel: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.attempt_ids){
  if(!Array.isArray(d.attempt_ids))
  throw TypeError(".svc.agent.v1.Cancel.attempt_ids: array expected")
  m.attempt_ids=[]
  for(var i=0;i<d.attempt_ids.length;++i){
  m.attempt_ids[i]=String(d.attempt_ids[i])
  }
  }
  if(d.reason!=null){
  m.reason=String(d.reason)
  }
  return m
},
toObject: function Cancel$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.attempt_ids=[]
  }
  if(o.defaults){
  d.reason=""
  }
  if(m.attempt_ids&&m.attempt_ids.length){
  d.attempt_ids=[]
  for(var j=0;j<m.attempt_ids.length;++j){
  d.attempt_ids[j]=m.attempt_ids[j]
  }
  }
  if(m.reason!=null&&Object.hasOwnProperty.call(m,"reason")){
  d.reason=m.reason
  }
  return d
}
},
Drain: {
ctor: function Drain(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Drain$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.reason!=null&&Object.hasOwnProperty.call(m,"reason"))
  w.uint32(10).string(m.reason)
  return w
},
decode: function Drain$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.reason=r.string()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Drain$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Drain: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.reason!=null){
  m.reason=String(d.reason)
  }
  return m
},
toObject: function Drain$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.reason=""
  }
  if(m.reason!=null&&Object.hasOwnProperty.call(m,"reason")){
  d.reason=m.reason
  }
  return d
}
},
WorkerCredential: {
ctor: function WorkerCredential(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function WorkerCredential$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token"))
  w.uint32(10).string(m.token)
  return w
},
decode: function WorkerCredential$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.token=r.string()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function WorkerCredential$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.WorkerCredential: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.token!=null){
  m.token=String(d.token)
  }
  return m
},
toObject: function WorkerCredential$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.token=""
  }
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token")){
  d.token=m.token
  }
  return d
}
},
StartRequest: {
ctor: function StartRequest(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function StartRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.hostname!=null&&Object.hasOwnProperty.call(m,"hostname"))
  w.uint32(10).string(m.hostname)
  if(m.pid!=null&&Object.hasOwnProperty.call(m,"pid"))
  w.uint32(16).int32(m.pid)
  return w
},
decode: function StartRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.hostname=r.string()
  break
  }
  case 2: {
  m.pid=r.int32()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function StartRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.StartRequest: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.hostname!=null){
  m.hostname=String(d.hostname)
  }
  if(d.pid!=null){
  m.pid=d.pid|0
  }
  return m
},
toObject: function StartRequest$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.hostname=""
  d.pid=0
  }
  if(m.hostname!=null&&Object.hasOwnProperty.call(m,"hostname")){
  d.hostname=m.hostname
  }
  if(m.pid!=null&&Object.hasOwnProperty.call(m,"pid")){
  d.pid=m.pid
  }
  return d
}
},
StartReply: {
ctor: function StartReply(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function StartReply$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.started!=null&&Object.hasOwnProperty.call(m,"started"))
  MESSAGES.Started.encode(m.started,w.uint32(10).fork(),q+1).ldelim()
  if(m.stop!=null&&Object.hasOwnProperty.call(m,"stop"))
  MESSAGES.Stop.encode(m.stop,w.uint32(18).fork(),q+1).ldelim()
  return w
},
decode: function StartReply$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.started=MESSAGES.Started.decode(r,r.uint32(),undefined,n+1)
  break
  }
  case 2: {
  m.stop=MESSAGES.Stop.decode(r,r.uint32(),undefined,n+1)
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function StartReply$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.StartReply: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.started!=null){
  if(!util.isObject(d.started))
  throw TypeError(".svc.agent.v1.StartReply.started: object expected")
  m.started=MESSAGES.Started.fromObject(d.started,n+1)
  }
  if(d.stop!=null){
  if(!util.isObject(d.stop))
  throw TypeError(".svc.agent.v1.StartReply.stop: object expected")
  m.stop=MESSAGES.Stop.fromObject(d.stop,n+1)
  }
  return m
},
toObject: function StartReply$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(m.started!=null&&Object.hasOwnProperty.call(m,"started")){
  d.started=MESSAGES.Started.toObject(m.started,o,q+1)
  if(o.oneofs)
  d.answer="started"
  }
  if(m.stop!=null&&Object.hasOwnProperty.call(m,"stop")){
  d.stop=MESSAGES.Stop.toObject(m.stop,o,q+1)
  if(o.oneofs)
  d.answer="stop"
  }
  return d
}
},
Started: {
ctor: function Started(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Started$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.job_json!=null&&Object.hasOwnProperty.call(m,"job_json"))
  w.uint32(10).string(m.job_json)
  if(m.log_offset!=null&&Object.hasOwnProperty.call(m,"log_offset"))
  w.uint32(16).int64(m.log_offset)
  if(m.lease_ms!=null&&Object.hasOwnProperty.call(m,"lease_ms"))
  w.uint32(24).int64(m.lease_ms)
  return w
},
decode: function Started$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.job_json=r.string()
  break
  }
  case 2: {
  m.log_offset=r.int64()
  break
  }
  case 3: {
  m.lease_ms=r.int64()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Started$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Started: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.job_json!=null){
  m.job_json=String(d.job_json)
  }
  if(d.log_offset!=null){
  if(util.Long)
  m.log_offset=util.Long.fromValue(d.log_offset,false)
  else if(typeof d.log_offset==="string")
  m.log_offset=parseInt(d.log_offset,10)
  else if(typeof d.log_offset==="number")
  m.log_offset=d.log_offset
  else if(typeof d.log_offset==="object")
  m.log_offset=new util.LongBits(d.log_offset.low>>>0,d.log_offset.high>>>0).toNumber()
  }
  if(d.lease_ms!=null){
  if(util.Long)
  m.lease_ms=util.Long.fromValue(d.lease_ms,false)
  else if(typeof d.lease_ms==="string")
  m.lease_ms=parseInt(d.lease_ms,10)
  else if(typeof d.lease_ms==="number")
  m.lease_ms=d.lease_ms
  else if(typeof d.lease_ms==="object")
  m.lease_ms=new util.LongBits(d.lease_ms.low>>>0,d.lease_ms.high>>>0).toNumber()
  }
  return m
},
toObject: function Started$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.job_json=""
  if(util.Long){
  var n=new util.Long(0,0,false)
  d.log_offset=o.longs===String?n.toString():o.longs===Number?n.toNumber():typeof BigInt!=="undefined"&&o.longs===BigInt?n.toBigInt():n
  }else
  d.log_offset=o.longs===String?"0":typeof BigInt!=="undefined"&&o.longs===BigInt?BigInt("0"):0
  if(util.Long){
  var n=new util.Long(0,0,false)
  d.lease_ms=o.longs===String?n.toString():o.longs===Number?n.toNumber():typeof BigInt!=="undefined"&&o.longs===BigInt?n.toBigInt():n
  }else
  d.lease_ms=o.longs===String?"0":typeof BigInt!=="undefined"&&o.longs===BigInt?BigInt("0"):0
  }
  if(m.job_json!=null&&Object.hasOwnProperty.call(m,"job_json")){
  d.job_json=m.job_json
  }
  if(m.log_offset!=null&&Object.hasOwnProperty.call(m,"log_offset")){
  if(typeof BigInt!=="undefined"&&o.longs===BigInt)
  d.log_offset=typeof m.log_offset==="number"?BigInt(m.log_offset):util.Long.fromBits(m.log_offset.low>>>0,m.log_offset.high>>>0,false).toBigInt()
  else if(typeof m.log_offset==="number")
  d.log_offset=o.longs===String?String(m.log_offset):m.log_offset
  else
  d.log_offset=o.longs===String?util.Long.prototype.toString.call(m.log_offset):o.longs===Number?new util.LongBits(m.log_offset.low>>>0,m.log_offset.high>>>0).toNumber():m.log_offset
  }
  if(m.lease_ms!=null&&Object.hasOwnProperty.call(m,"lease_ms")){
  if(typeof BigInt!=="undefined"&&o.longs===BigInt)
  d.lease_ms=typeof m.lease_ms==="number"?BigInt(m.lease_ms):util.Long.fromBits(m.lease_ms.low>>>0,m.lease_ms.high>>>0,false).toBigInt()
  else if(typeof m.lease_ms==="number")
  d.lease_ms=o.longs===String?String(m.lease_ms):m.lease_ms
  else
  d.lease_ms=o.longs===String?util.Long.prototype.toString.call(m.lease_ms):o.longs===Number?new util.LongBits(m.lease_ms.low>>>0,m.lease_ms.high>>>0).toNumber():m.lease_ms
  }
  return d
}
},
Stop: {
ctor: function Stop(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Stop$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.reason!=null&&Object.hasOwnProperty.call(m,"reason"))
  w.uint32(10).string(m.reason)
  return w
},
decode: function Stop$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.reason=r.string()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Stop$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Stop: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.reason!=null){
  m.reason=String(d.reason)
  }
  return m
},
toObject: function Stop$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.reason=""
  }
  if(m.reason!=null&&Object.hasOwnProperty.call(m,"reason")){
  d.reason=m.reason
  }
  return d
}
},
HeartbeatRequest: {
ctor: function HeartbeatRequest(p){
  this.tokens=[]
  this.pids=[]
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function HeartbeatRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.tokens!=null&&m.tokens.length){
  for(var i=0;i<m.tokens.length;++i)
  w.uint32(10).string(m.tokens[i])
  }
  if(m.pids!=null&&m.pids.length){
  w.uint32(18).fork()
  for(var i=0;i<m.pids.length;++i)
  w.int32(m.pids[i])
  w.ldelim()
  }
  return w
},
decode: function HeartbeatRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  if(!(m.tokens&&m.tokens.length))
  m.tokens=[]
  m.tokens.push(r.string())
  break
  }
  case 2: {
  if(!(m.pids&&m.pids.length))
  m.pids=[]
  if((t&7)===2){
  var c2=r.uint32()+r.pos
  if(c2>r.len)
  throw RangeError("index out of range")
  r.len=c2
  while(r.pos<c2)
  m.pids.push(r.int32())
  if(r.pos!==c2)
  throw RangeError("index out of range")
  r.len=c
  }else
  m.pids.push(r.int32())
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function HeartbeatRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.HeartbeatRequest: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.tokens){
  if(!Array.isArray(d.tokens))
  throw TypeError(".svc.agent.v1.HeartbeatRequest.tokens: array expected")
  m.tokens=[]
  for(var i=0;i<d.tokens.length;++i){
  m.tokens[i]=String(d.tokens[i])
  }
  }
  if(d.pids){
  if(!Array.isArray(d.pids))
  throw TypeError(".svc.agent.v1.HeartbeatRequest.pids: array expected")
  m.pids=[]
  for(var i=0;i<d.pids.length;++i){
  m.pids[i]=d.pids[i]|0
  }
  }
  return m
},
toObject: function HeartbeatRequest$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.tokens=[]
  d.pids=[]
  }
  if(m.tokens&&m.tokens.length){
  d.tokens=[]
  for(var j=0;j<m.tokens.length;++j){
  d.tokens[j]=m.tokens[j]
  }
  }
  if(m.pids&&m.pids.length){
  d.pids=[]
  for(var j=0;j<m.pids.length;++j){
  d.pids[j]=m.pids[j]
  }
  }
  return d
}
},
HeartbeatReply: {
ctor: function HeartbeatReply(p){
  this.beats=[]
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function HeartbeatReply$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.beats!=null&&m.beats.length){
  for(var i=0;i<m.beats.length;++i)
  MESSAGES.Beat.encode(m.beats[i],w.uint32(10).fork(),q+1).ldelim()
  }
  if(m.lease_ms!=null&&Object.hasOwnProperty.call(m,"lease_ms"))
  w.uint32(16).int64(m.lease_ms)
  return w
},
decode: function HeartbeatReply$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  if(!(m.beats&&m.beats.length))
  m.beats=[]
  m.beats.push(MESSAGES.Beat.decode(r,r.uint32(),undefined,n+1))
  break
  }
  case 2: {
  m.lease_ms=r.int64()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function HeartbeatReply$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.HeartbeatReply: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.beats){
  if(!Array.isArray(d.beats))
  throw TypeError(".svc.agent.v1.HeartbeatReply.beats: array expected")
  m.beats=[]
  for(var i=0;i<d.beats.length;++i){
  if(!util.isObject(d.beats[i]))
  throw TypeError(".svc.agent.v1.HeartbeatReply.beats: object expected")
  m.beats[i]=MESSAGES.Beat.fromObject(d.beats[i],n+1)
  }
  }
  if(d.lease_ms!=null){
  if(util.Long)
  m.lease_ms=util.Long.fromValue(d.lease_ms,false)
  else if(typeof d.lease_ms==="string")
  m.lease_ms=parseInt(d.lease_ms,10)
  else if(typeof d.lease_ms==="number")
  m.lease_ms=d.lease_ms
  else if(typeof d.lease_ms==="object")
  m.lease_ms=new util.LongBits(d.lease_ms.low>>>0,d.lease_ms.high>>>0).toNumber()
  }
  return m
},
toObject: function HeartbeatReply$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.beats=[]
  }
  if(o.defaults){
  if(util.Long){
  var n=new util.Long(0,0,false)
  d.lease_ms=o.longs===String?n.toString():o.longs===Number?n.toNumber():typeof BigInt!=="undefined"&&o.longs===BigInt?n.toBigInt():n
  }else
  d.lease_ms=o.longs===String?"0":typeof BigInt!=="undefined"&&o.longs===BigInt?BigInt("0"):0
  }
  if(m.beats&&m.beats.length){
  d.beats=[]
  for(var j=0;j<m.beats.length;++j){
  d.beats[j]=MESSAGES.Beat.toObject(m.beats[j],o,q+1)
  }
  }
  if(m.lease_ms!=null&&Object.hasOwnProperty.call(m,"lease_ms")){
  if(typeof BigInt!=="undefined"&&o.longs===BigInt)
  d.lease_ms=typeof m.lease_ms==="number"?BigInt(m.lease_ms):util.Long.fromBits(m.lease_ms.low>>>0,m.lease_ms.high>>>0,false).toBigInt()
  else if(typeof m.lease_ms==="number")
  d.lease_ms=o.longs===String?String(m.lease_ms):m.lease_ms
  else
  d.lease_ms=o.longs===String?util.Long.prototype.toString.call(m.lease_ms):o.longs===Number?new util.LongBits(m.lease_ms.low>>>0,m.lease_ms.high>>>0).toNumber():m.lease_ms
  }
  return d
}
},
Beat: {
ctor: function Beat(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Beat$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.stop!=null&&Object.hasOwnProperty.call(m,"stop"))
  w.uint32(8).bool(m.stop)
  if(m.reason!=null&&Object.hasOwnProperty.call(m,"reason"))
  w.uint32(18).string(m.reason)
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token"))
  w.uint32(26).string(m.token)
  return w
},
decode: function Beat$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.stop=r.bool()
  break
  }
  case 2: {
  m.reason=r.string()
  break
  }
  case 3: {
  m.token=r.string()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Beat$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Beat: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.stop!=null){
  m.stop=Boolean(d.stop)
  }
  if(d.reason!=null){
  m.reason=String(d.reason)
  }
  if(d.token!=null){
  m.token=String(d.token)
  }
  return m
},
toObject: function Beat$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.stop=false
  d.reason=""
  d.token=""
  }
  if(m.stop!=null&&Object.hasOwnProperty.call(m,"stop")){
  d.stop=m.stop
  }
  if(m.reason!=null&&Object.hasOwnProperty.call(m,"reason")){
  d.reason=m.reason
  }
  if(m.token!=null&&Object.hasOwnProperty.call(m,"token")){
  d.token=m.token
  }
  return d
}
},
AppendLogRequest: {
ctor: function AppendLogRequest(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function AppendLogRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.offset!=null&&Object.hasOwnProperty.call(m,"offset"))
  w.uint32(8).int64(m.offset)
  if(m.data!=null&&Object.hasOwnProperty.call(m,"data"))
  w.uint32(18).bytes(m.data)
  return w
},
decode: function AppendLogRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.offset=r.int64()
  break
  }
  case 2: {
  m.data=r.bytes()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function AppendLogRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.AppendLogRequest: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.offset!=null){
  if(util.Long)
  m.offset=util.Long.fromValue(d.offset,false)
  else if(typeof d.offset==="string")
  m.offset=parseInt(d.offset,10)
  else if(typeof d.offset==="number")
  m.offset=d.offset
  else if(typeof d.offset==="object")
  m.offset=new util.LongBits(d.offset.low>>>0,d.offset.high>>>0).toNumber()
  }
  if(d.data!=null){
  if(typeof d.data==="string")
  util.base64.decode(d.data,m.data=util.newBuffer(util.base64.length(d.data)),0)
  else if(d.data.length >= 0)
  m.data=d.data
  }
  return m
},
toObject: function AppendLogRequest$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  if(util.Long){
  var n=new util.Long(0,0,false)
  d.offset=o.longs===String?n.toString():o.longs===Number?n.toNumber():typeof BigInt!=="undefined"&&o.longs===BigInt?n.toBigInt():n
  }else
  d.offset=o.longs===String?"0":typeof BigInt!=="undefined"&&o.longs===BigInt?BigInt("0"):0
  if(o.bytes===String)d.data=""
  else{
  d.data=[]
  if(o.bytes!==Array)d.data=util.newBuffer(d.data)
  }
  }
  if(m.offset!=null&&Object.hasOwnProperty.call(m,"offset")){
  if(typeof BigInt!=="undefined"&&o.longs===BigInt)
  d.offset=typeof m.offset==="number"?BigInt(m.offset):util.Long.fromBits(m.offset.low>>>0,m.offset.high>>>0,false).toBigInt()
  else if(typeof m.offset==="number")
  d.offset=o.longs===String?String(m.offset):m.offset
  else
  d.offset=o.longs===String?util.Long.prototype.toString.call(m.offset):o.longs===Number?new util.LongBits(m.offset.low>>>0,m.offset.high>>>0).toNumber():m.offset
  }
  if(m.data!=null&&Object.hasOwnProperty.call(m,"data")){
  d.data=o.bytes===String?util.base64.encode(m.data,0,m.data.length):o.bytes===Array?Array.prototype.slice.call(m.data):m.data
  }
  return d
}
},
AppendLogReply: {
ctor: function AppendLogReply(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function AppendLogReply$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.length!=null&&Object.hasOwnProperty.call(m,"length"))
  w.uint32(8).int64(m.length)
  return w
},
decode: function AppendLogReply$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.length=r.int64()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function AppendLogReply$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.AppendLogReply: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.length!=null){
  if(util.Long)
  m.length=util.Long.fromValue(d.length,false)
  else if(typeof d.length==="string")
  m.length=parseInt(d.length,10)
  else if(typeof d.length==="number")
  m.length=d.length
  else if(typeof d.length==="object")
  m.length=new util.LongBits(d.length.low>>>0,d.length.high>>>0).toNumber()
  }
  return m
},
toObject: function AppendLogReply$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  if(util.Long){
  var n=new util.Long(0,0,false)
  d.length=o.longs===String?n.toString():o.longs===Number?n.toNumber():typeof BigInt!=="undefined"&&o.longs===BigInt?n.toBigInt():n
  }else
  d.length=o.longs===String?"0":typeof BigInt!=="undefined"&&o.longs===BigInt?BigInt("0"):0
  }
  if(m.length!=null&&Object.hasOwnProperty.call(m,"length")){
  if(typeof BigInt!=="undefined"&&o.longs===BigInt)
  d.length=typeof m.length==="number"?BigInt(m.length):util.Long.fromBits(m.length.low>>>0,m.length.high>>>0,false).toBigInt()
  else if(typeof m.length==="number")
  d.length=o.longs===String?String(m.length):m.length
  else
  d.length=o.longs===String?util.Long.prototype.toString.call(m.length):o.longs===Number?new util.LongBits(m.length.low>>>0,m.length.high>>>0).toNumber():m.length
  }
  return d
}
},
FinishRequest: {
ctor: function FinishRequest(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function FinishRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.outcome_json!=null&&Object.hasOwnProperty.call(m,"outcome_json"))
  w.uint32(10).string(m.outcome_json)
  if(m.log_offset!=null&&Object.hasOwnProperty.call(m,"log_offset"))
  w.uint32(16).int64(m.log_offset)
  if(m.log_data!=null&&Object.hasOwnProperty.call(m,"log_data"))
  w.uint32(26).bytes(m.log_data)
  if(m.worker_token!=null&&Object.hasOwnProperty.call(m,"worker_token"))
  w.uint32(34).string(m.worker_token)
  if(m.log_goes_on!=null&&Object.hasOwnProperty.call(m,"log_goes_on"))
  w.uint32(40).bool(m.log_goes_on)
  if(m.drain_reason!=null&&Object.hasOwnProperty.call(m,"drain_reason"))
  w.uint32(50).string(m.drain_reason)
  if(m.not_begun!=null&&Object.hasOwnProperty.call(m,"not_begun"))
  w.uint32(64).bool(m.not_begun)
  return w
},
decode: function FinishRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.outcome_json=r.string()
  break
  }
  case 2: {
  m.log_offset=r.int64()
  break
  }
  case 3: {
  m.log_data=r.bytes()
  break
  }
  case 4: {
  m.worker_token=r.string()
  break
  }
  case 5: {
  m.log_goes_on=r.bool()
  break
  }
  case 6: {
  m.drain_reason=r.string()
  break
  }
  case 8: {
  m.not_begun=r.bool()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function FinishRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.FinishRequest: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.outcome_json!=null){
  m.outcome_json=String(d.outcome_json)
  }
  if(d.log_offset!=null){
  if(util.Long)
  m.log_offset=util.Long.fromValue(d.log_offset,false)
  else if(typeof d.log_offset==="string")
  m.log_offset=parseInt(d.log_offset,10)
  else if(typeof d.log_offset==="number")
  m.log_offset=d.log_offset
  else if(typeof d.log_offset==="object")
  m.log_offset=new util.LongBits(d.log_offset.low>>>0,d.log_offset.high>>>0).toNumber()
  }
  if(d.log_data!=null){
  if(typeof d.log_data==="string")
  util.base64.decode(d.log_data,m.log_data=util.newBuffer(util.base64.length(d.log_data)),0)
  else if(d.log_data.length >= 0)
  m.log_data=d.log_data
  }
  if(d.worker_token!=null){
  m.worker_token=String(d.worker_token)
  }
  if(d.log_goes_on!=null){
  m.log_goes_on=Boolean(d.log_goes_on)
  }
  if(d.drain_reason!=null){
  m.drain_reason=String(d.drain_reason)
  }
  if(d.not_begun!=null){
  m.not_begun=Boolean(d.not_begun)
  }
  return m
},
toObject: function FinishRequest$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.outcome_json=""
  if(util.Long){
  var n=new util.Long(0,0,false)
  d.log_offset=o.longs===String?n.toString():o.longs===Number?n.toNumber():typeof BigInt!=="undefined"&&o.longs===BigInt?n.toBigInt():n
  }else
  d.log_offset=o.longs===String?"0":typeof BigInt!=="undefined"&&o.longs===BigInt?BigInt("0"):0
  if(o.bytes===String)d.log_data=""
  else{
  d.log_data=[]
  if(o.bytes!==Array)d.log_data=util.newBuffer(d.log_data)
  }
  d.worker_token=""
  d.log_goes_on=false
  d.drain_reason=""
  d.not_begun=false
  }
  if(m.outcome_json!=null&&Object.hasOwnProperty.call(m,"outcome_json")){
  d.outcome_json=m.outcome_json
  }
  if(m.log_offset!=null&&Object.hasOwnProperty.call(m,"log_offset")){
  if(typeof BigInt!=="undefined"&&o.longs===BigInt)
  d.log_offset=typeof m.log_offset==="number"?BigInt(m.log_offset):util.Long.fromBits(m.log_offset.low>>>0,m.log_offset.high>>>0,false).toBigInt()
  else if(typeof m.log_offset==="number")
  d.log_offset=o.longs===String?String(m.log_offset):m.log_offset
  else
  d.log_offset=o.longs===String?util.Long.prototype.toString.call(m.log_offset):o.longs===Number?new util.LongBits(m.log_offset.low>>>0,m.log_offset.high>>>0).toNumber():m.log_offset
  }
  if(m.log_data!=null&&Object.hasOwnProperty.call(m,"log_data")){
  d.log_data=o.bytes===String?util.base64.encode(m.log_data,0,m.log_data.length):o.bytes===Array?Array.prototype.slice.call(m.log_data):m.log_data
  }
  if(m.worker_token!=null&&Object.hasOwnProperty.call(m,"worker_token")){
  d.worker_token=m.worker_token
  }
  if(m.log_goes_on!=null&&Object.hasOwnProperty.call(m,"log_goes_on")){
  d.log_goes_on=m.log_goes_on
  }
  if(m.drain_reason!=null&&Object.hasOwnProperty.call(m,"drain_reason")){
  d.drain_reason=m.drain_reason
  }
  if(m.not_begun!=null&&Object.hasOwnProperty.call(m,"not_begun")){
  d.not_begun=m.not_begun
  }
  return d
}
},
FinishReply: {
ctor: function FinishReply(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function FinishReply$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.recorded!=null&&Object.hasOwnProperty.call(m,"recorded"))
  w.uint32(8).bool(m.recorded)
  if(m.log_length!=null&&Object.hasOwnProperty.call(m,"log_length"))
  w.uint32(16).int64(m.log_length)
  if(m.next!=null&&Object.hasOwnProperty.call(m,"next"))
  MESSAGES.NextAttempt.encode(m.next,w.uint32(26).fork(),q+1).ldelim()
  return w
},
decode: function FinishReply$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.recorded=r.bool()
  break
  }
  case 2: {
  m.log_length=r.int64()
  break
  }
  case 3: {
  m.next=MESSAGES.NextAttempt.decode(r,r.uint32(),undefined,n+1)
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function FinishReply$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.FinishReply: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.recorded!=null){
  m.recorded=Boolean(d.recorded)
  }
  if(d.log_length!=null){
  if(util.Long)
  m.log_length=util.Long.fromValue(d.log_length,false)
  else if(typeof d.log_length==="string")
  m.log_length=parseInt(d.log_length,10)
  else if(typeof d.log_length==="number")
  m.log_length=d.log_length
  else if(typeof d.log_length==="object")
  m.log_length=new util.LongBits(d.log_length.low>>>0,d.log_length.high>>>0).toNumber()
  }
  if(d.next!=null){
  if(!util.isObject(d.next))
  throw TypeError(".svc.agent.v1.FinishReply.next: object expected")
  m.next=MESSAGES.NextAttempt.fromObject(d.next,n+1)
  }
  return m
},
toObject: function FinishReply$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.recorded=false
  if(util.Long){
  var n=new util.Long(0,0,false)
  d.log_length=o.longs===String?n.toString():o.longs===Number?n.toNumber():typeof BigInt!=="undefined"&&o.longs===BigInt?n.toBigInt():n
  }else
  d.log_length=o.longs===String?"0":typeof BigInt!=="undefined"&&o.longs===BigInt?BigInt("0"):0
  d.next=null
  }
  if(m.recorded!=null&&Object.hasOwnProperty.call(m,"recorded")){
  d.recorded=m.recorded
  }
  if(m.log_length!=null&&Object.hasOwnProperty.call(m,"log_length")){
  if(typeof BigInt!=="undefined"&&o.longs===BigInt)
  d.log_length=typeof m.log_length==="number"?BigInt(m.log_length):util.Long.fromBits(m.log_length.low>>>0,m.log_length.high>>>0,false).toBigInt()
  else if(typeof m.log_length==="number")
  d.log_length=o.longs===String?String(m.log_length):m.log_length
  else
  d.log_length=o.longs===String?util.Long.prototype.toString.call(m.log_length):o.longs===Number?new util.LongBits(m.log_length.low>>>0,m.log_length.high>>>0).toNumber():m.log_length
  }
  if(m.next!=null&&Object.hasOwnProperty.call(m,"next")){
  d.next=MESSAGES.NextAttempt.toObject(m.next,o,q+1)
  }
  return d
}
},
NextAttempt: {
ctor: function NextAttempt(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function NextAttempt$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.assignment!=null&&Object.hasOwnProperty.call(m,"assignment"))
  MESSAGES.Assignment.encode(m.assignment,w.uint32(10).fork(),q+1).ldelim()
  if(m.started!=null&&Object.hasOwnProperty.call(m,"started"))
  MESSAGES.Started.encode(m.started,w.uint32(18).fork(),q+1).ldelim()
  return w
},
decode: function NextAttempt$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.assignment=MESSAGES.Assignment.decode(r,r.uint32(),undefined,n+1)
  break
  }
  case 2: {
  m.started=MESSAGES.Started.decode(r,r.uint32(),undefined,n+1)
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function NextAttempt$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.NextAttempt: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.assignment!=null){
  if(!util.isObject(d.assignment))
  throw TypeError(".svc.agent.v1.NextAttempt.assignment: object expected")
  m.assignment=MESSAGES.Assignment.fromObject(d.assignment,n+1)
  }
  if(d.started!=null){
  if(!util.isObject(d.started))
  throw TypeError(".svc.agent.v1.NextAttempt.started: object expected")
  m.started=MESSAGES.Started.fromObject(d.started,n+1)
  }
  return m
},
toObject: function NextAttempt$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.assignment=null
  d.started=null
  }
  if(m.assignment!=null&&Object.hasOwnProperty.call(m,"assignment")){
  d.assignment=MESSAGES.Assignment.toObject(m.assignment,o,q+1)
  }
  if(m.started!=null&&Object.hasOwnProperty.call(m,"started")){
  d.started=MESSAGES.Started.toObject(m.started,o,q+1)
  }
  return d
}
},
CallRequest: {
ctor: function CallRequest(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function CallRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.method!=null&&Object.hasOwnProperty.call(m,"method"))
  w.uint32(10).string(m.method)
  if(m.params_json!=null&&Object.hasOwnProperty.call(m,"params_json"))
  w.uint32(18).string(m.params_json)
  if(m.request_id!=null&&Object.hasOwnProperty.call(m,"request_id"))
  w.uint32(26).string(m.request_id)
  return w
},
decode: function CallRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.method=r.string()
  break
  }
  case 2: {
  m.params_json=r.string()
  break
  }
  case 3: {
  m.request_id=r.string()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function CallRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.CallRequest: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.method!=null){
  m.method=String(d.method)
  }
  if(d.params_json!=null){
  m.params_json=String(d.params_json)
  }
  if(d.request_id!=null){
  m.request_id=String(d.request_id)
  }
  return m
},
toObject: function CallRequest$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.method=""
  d.params_json=""
  d.request_id=""
  }
  if(m.method!=null&&Object.hasOwnProperty.call(m,"method")){
  d.method=m.method
  }
  if(m.params_json!=null&&Object.hasOwnProperty.call(m,"params_json")){
  d.params_json=m.params_json
  }
  if(m.request_id!=null&&Object.hasOwnProperty.call(m,"request_id")){
  d.request_id=m.request_id
  }
  return d
}
},
CallReply: {
ctor: function CallReply(p){
  this.masks=[]
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function CallReply$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.value_json!=null&&Object.hasOwnProperty.call(m,"value_json"))
  w.uint32(10).string(m.value_json)
  if(m.masks!=null&&m.masks.length){
  for(var i=0;i<m.masks.length;++i)
  w.uint32(18).string(m.masks[i])
  }
  return w
},
decode: function CallReply$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.value_json=r.string()
  break
  }
  case 2: {
  if(!(m.masks&&m.masks.length))
  m.masks=[]
  m.masks.push(r.string())
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function CallReply$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.CallReply: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.value_json!=null){
  m.value_json=String(d.value_json)
  }
  if(d.masks){
  if(!Array.isArray(d.masks))
  throw TypeError(".svc.agent.v1.CallReply.masks: array expected")
  m.masks=[]
  for(var i=0;i<d.masks.length;++i){
  m.masks[i]=String(d.masks[i])
  }
  }
  return m
},
toObject: function CallReply$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.masks=[]
  }
  if(o.defaults){
  d.value_json=""
  }
  if(m.value_json!=null&&Object.hasOwnProperty.call(m,"value_json")){
  d.value_json=m.value_json
  }
  if(m.masks&&m.masks.length){
  d.masks=[]
  for(var j=0;j<m.masks.length;++j){
  d.masks[j]=m.masks[j]
  }
  }
  return d
}
},
GetVersionRequest: {
ctor: function GetVersionRequest(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function GetVersionRequest$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  return w
},
decode: function GetVersionRequest$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function GetVersionRequest$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  return new this.ctor
},
toObject: function (){
  return {}
}
},
Version: {
ctor: function Version(p){
  this.modules=[]
  this.dependencies=[]
  this.env={}
  this.files={}
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Version$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.version_key!=null&&Object.hasOwnProperty.call(m,"version_key"))
  w.uint32(10).string(m.version_key)
  if(m.dag_id!=null&&Object.hasOwnProperty.call(m,"dag_id"))
  w.uint32(18).string(m.dag_id)
  if(m.python_dag_id!=null&&Object.hasOwnProperty.call(m,"python_dag_id"))
  w.uint32(26).string(m.python_dag_id)
  if(m.dags_folder!=null&&Object.hasOwnProperty.call(m,"dags_folder"))
  w.uint32(34).string(m.dags_folder)
  if(m.source_path!=null&&Object.hasOwnProperty.call(m,"source_path"))
  w.uint32(42).string(m.source_path)
  if(m.source_module!=null&&Object.hasOwnProperty.call(m,"source_module"))
  w.uint32(50).string(m.source_module)
  if(m.source_text!=null&&Object.hasOwnProperty.call(m,"source_text"))
  w.uint32(58).string(m.source_text)
  if(m.modules!=null&&m.modules.length){
  for(var i=0;i<m.modules.length;++i)
  MESSAGES.Module.encode(m.modules[i],w.uint32(66).fork(),q+1).ldelim()
  }
  if(m.dependencies!=null&&m.dependencies.length){
  for(var i=0;i<m.dependencies.length;++i)
  w.uint32(74).string(m.dependencies[i])
  }
  if(m.env!=null&&Object.hasOwnProperty.call(m,"env")){
  for(var ks=Object.keys(m.env),i=0;i<ks.length;++i){
  w.uint32(82).fork().uint32(10).string(ks[i])
  .uint32(18).string(m.env[ks[i]]).ldelim()
  }
  }
  if(m.version_number!=null&&Object.hasOwnProperty.call(m,"version_number"))
  w.uint32(88).int32(m.version_number)
  if(m.bundle!=null&&Object.hasOwnProperty.call(m,"bundle"))
  MESSAGES.Bundle.encode(m.bundle,w.uint32(98).fork(),q+1).ldelim()
  if(m.files!=null&&Object.hasOwnProperty.call(m,"files")){
  for(var ks=Object.keys(m.files),i=0;i<ks.length;++i){
  w.uint32(106).fork().uint32(10).string(ks[i])
  .uint32(18).string(m.files[ks[i]]).ldelim()
  }
  }
  if(m.providers_known!=null&&Object.hasOwnProperty.call(m,"providers_known"))
  w.uint32(112).bool(m.providers_known)
  if(m.has_tree!=null&&Object.hasOwnProperty.call(m,"has_tree"))
  w.uint32(120).bool(m.has_tree)
  return w
},
decode: function Version$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m,k,value
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.version_key=r.string()
  break
  }
  case 2: {
  m.dag_id=r.string()
  break
  }
  case 3: {
  m.python_dag_id=r.string()
  break
  }
  case 4: {
  m.dags_folder=r.string()
  break
  }
  case 5: {
  m.source_path=r.string()
  break
  }
  case 6: {
  m.source_module=r.string()
  break
  }
  case 7: {
  m.source_text=r.string()
  break
  }
  case 8: {
  if(!(m.modules&&m.modules.length))
  m.modules=[]
  m.modules.push(MESSAGES.Module.decode(r,r.uint32(),undefined,n+1))
  break
  }
  case 9: {
  if(!(m.dependencies&&m.dependencies.length))
  m.dependencies=[]
  m.dependencies.push(r.string())
  break
  }
  case 10: {
  if(m.env===util.emptyObject)
  m.env={}
  var c2=r.uint32()+r.pos
  if(c2>r.len)
  throw RangeError("index out of range")
  r.len=c2
  k=""
  value=""
  while(r.pos<c2){
  var tag2=r.uint32()
  switch(tag2>>>3){
  case 1: k=r.string(); break
  case 2:
  value=r.string()
  break
  default:
  r.skipType(tag2&7,n)
  break
  }
  }
  if(r.pos!==c2)
  throw RangeError("index out of range")
  r.len=c
  if(k==="__proto__")
  util.makeProp(m.env,k)
  m.env[k]=value
  break
  }
  case 11: {
  m.version_number=r.int32()
  break
  }
  case 12: {
  m.bundle=MESSAGES.Bundle.decode(r,r.uint32(),undefined,n+1)
  break
  }
  case 13: {
  if(m.files===util.emptyObject)
  m.files={}
  var c2=r.uint32()+r.pos
  if(c2>r.len)
  throw RangeError("index out of range")
  r.len=c2
  k=""
  value=""
  while(r.pos<c2){
  var tag2=r.uint32()
  switch(tag2>>>3){
  case 1: k=r.string(); break
  case 2:
  value=r.string()
  break
  default:
  r.skipType(tag2&7,n)
  break
  }
  }
  if(r.pos!==c2)
  throw RangeError("index out of range")
  r.len=c
  if(k==="__proto__")
  util.makeProp(m.files,k)
  m.files[k]=value
  break
  }
  case 14: {
  m.providers_known=r.bool()
  break
  }
  case 15: {
  m.has_tree=r.bool()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Version$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Version: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.version_key!=null){
  m.version_key=String(d.version_key)
  }
  if(d.dag_id!=null){
  m.dag_id=String(d.dag_id)
  }
  if(d.python_dag_id!=null){
  m.python_dag_id=String(d.python_dag_id)
  }
  if(d.dags_folder!=null){
  m.dags_folder=String(d.dags_folder)
  }
  if(d.source_path!=null){
  m.source_path=String(d.source_path)
  }
  if(d.source_module!=null){
  m.source_module=String(d.source_module)
  }
  if(d.source_text!=null){
  m.source_text=String(d.source_text)
  }
  if(d.modules){
  if(!Array.isArray(d.modules))
  throw TypeError(".svc.agent.v1.Version.modules: array expected")
  m.modules=[]
  for(var i=0;i<d.modules.length;++i){
  if(!util.isObject(d.modules[i]))
  throw TypeError(".svc.agent.v1.Version.modules: object expected")
  m.modules[i]=MESSAGES.Module.fromObject(d.modules[i],n+1)
  }
  }
  if(d.dependencies){
  if(!Array.isArray(d.dependencies))
  throw TypeError(".svc.agent.v1.Version.dependencies: array expected")
  m.dependencies=[]
  for(var i=0;i<d.dependencies.length;++i){
  m.dependencies[i]=String(d.dependencies[i])
  }
  }
  if(d.env){
  if(!util.isObject(d.env))
  throw TypeError(".svc.agent.v1.Version.env: object expected")
  m.env={}
  for(var ks=Object.keys(d.env),i=0;i<ks.length;++i){
  if(ks[i]==="__proto__")
  util.makeProp(m.env,ks[i])
  m.env[ks[i]]=String(d.env[ks[i]])
  }
  }
  if(d.version_number!=null){
  m.version_number=d.version_number|0
  }
  if(d.bundle!=null){
  if(!util.isObject(d.bundle))
  throw TypeError(".svc.agent.v1.Version.bundle: object expected")
  m.bundle=MESSAGES.Bundle.fromObject(d.bundle,n+1)
  }
  if(d.files){
  if(!util.isObject(d.files))
  throw TypeError(".svc.agent.v1.Version.files: object expected")
  m.files={}
  for(var ks=Object.keys(d.files),i=0;i<ks.length;++i){
  if(ks[i]==="__proto__")
  util.makeProp(m.files,ks[i])
  m.files[ks[i]]=String(d.files[ks[i]])
  }
  }
  if(d.providers_known!=null){
  m.providers_known=Boolean(d.providers_known)
  }
  if(d.has_tree!=null){
  m.has_tree=Boolean(d.has_tree)
  }
  return m
},
toObject: function Version$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.modules=[]
  d.dependencies=[]
  }
  if(o.objects||o.defaults){
  d.env={}
  d.files={}
  }
  if(o.defaults){
  d.version_key=""
  d.dag_id=""
  d.python_dag_id=""
  d.dags_folder=""
  d.source_path=""
  d.source_module=""
  d.source_text=""
  d.version_number=0
  d.bundle=null
  d.providers_known=false
  d.has_tree=false
  }
  if(m.version_key!=null&&Object.hasOwnProperty.call(m,"version_key")){
  d.version_key=m.version_key
  }
  if(m.dag_id!=null&&Object.hasOwnProperty.call(m,"dag_id")){
  d.dag_id=m.dag_id
  }
  if(m.python_dag_id!=null&&Object.hasOwnProperty.call(m,"python_dag_id")){
  d.python_dag_id=m.python_dag_id
  }
  if(m.dags_folder!=null&&Object.hasOwnProperty.call(m,"dags_folder")){
  d.dags_folder=m.dags_folder
  }
  if(m.source_path!=null&&Object.hasOwnProperty.call(m,"source_path")){
  d.source_path=m.source_path
  }
  if(m.source_module!=null&&Object.hasOwnProperty.call(m,"source_module")){
  d.source_module=m.source_module
  }
  if(m.source_text!=null&&Object.hasOwnProperty.call(m,"source_text")){
  d.source_text=m.source_text
  }
  if(m.modules&&m.modules.length){
  d.modules=[]
  for(var j=0;j<m.modules.length;++j){
  d.modules[j]=MESSAGES.Module.toObject(m.modules[j],o,q+1)
  }
  }
  if(m.dependencies&&m.dependencies.length){
  d.dependencies=[]
  for(var j=0;j<m.dependencies.length;++j){
  d.dependencies[j]=m.dependencies[j]
  }
  }
  var ks2
  if(m.env&&(ks2=Object.keys(m.env)).length){
  d.env={}
  for(var j=0;j<ks2.length;++j){
  if(ks2[j]==="__proto__")
  util.makeProp(d.env,ks2[j])
  d.env[ks2[j]]=m.env[ks2[j]]
  }
  }
  if(m.version_number!=null&&Object.hasOwnProperty.call(m,"version_number")){
  d.version_number=m.version_number
  }
  if(m.bundle!=null&&Object.hasOwnProperty.call(m,"bundle")){
  d.bundle=MESSAGES.Bundle.toObject(m.bundle,o,q+1)
  }
  if(m.files&&(ks2=Object.keys(m.files)).length){
  d.files={}
  for(var j=0;j<ks2.length;++j){
  if(ks2[j]==="__proto__")
  util.makeProp(d.files,ks2[j])
  d.files[ks2[j]]=m.files[ks2[j]]
  }
  }
  if(m.providers_known!=null&&Object.hasOwnProperty.call(m,"providers_known")){
  d.providers_known=m.providers_known
  }
  if(m.has_tree!=null&&Object.hasOwnProperty.call(m,"has_tree")){
  d.has_tree=m.has_tree
  }
  return d
}
},
Bundle: {
ctor: function Bundle(p){
  this.import_roots=[]
  this.plugins=[]
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Bundle$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.dags!=null&&Object.hasOwnProperty.call(m,"dags"))
  w.uint32(10).string(m.dags)
  if(m.import_roots!=null&&m.import_roots.length){
  for(var i=0;i<m.import_roots.length;++i)
  w.uint32(18).string(m.import_roots[i])
  }
  if(m.plugins!=null&&m.plugins.length){
  for(var i=0;i<m.plugins.length;++i)
  w.uint32(26).string(m.plugins[i])
  }
  return w
},
decode: function Bundle$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.dags=r.string()
  break
  }
  case 2: {
  if(!(m.import_roots&&m.import_roots.length))
  m.import_roots=[]
  m.import_roots.push(r.string())
  break
  }
  case 3: {
  if(!(m.plugins&&m.plugins.length))
  m.plugins=[]
  m.plugins.push(r.string())
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Bundle$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Bundle: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.dags!=null){
  m.dags=String(d.dags)
  }
  if(d.import_roots){
  if(!Array.isArray(d.import_roots))
  throw TypeError(".svc.agent.v1.Bundle.import_roots: array expected")
  m.import_roots=[]
  for(var i=0;i<d.import_roots.length;++i){
  m.import_roots[i]=String(d.import_roots[i])
  }
  }
  if(d.plugins){
  if(!Array.isArray(d.plugins))
  throw TypeError(".svc.agent.v1.Bundle.plugins: array expected")
  m.plugins=[]
  for(var i=0;i<d.plugins.length;++i){
  m.plugins[i]=String(d.plugins[i])
  }
  }
  return m
},
toObject: function Bundle$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.arrays||o.defaults){
  d.import_roots=[]
  d.plugins=[]
  }
  if(o.defaults){
  d.dags=""
  }
  if(m.dags!=null&&Object.hasOwnProperty.call(m,"dags")){
  d.dags=m.dags
  }
  if(m.import_roots&&m.import_roots.length){
  d.import_roots=[]
  for(var j=0;j<m.import_roots.length;++j){
  d.import_roots[j]=m.import_roots[j]
  }
  }
  if(m.plugins&&m.plugins.length){
  d.plugins=[]
  for(var j=0;j<m.plugins.length;++j){
  d.plugins[j]=m.plugins[j]
  }
  }
  return d
}
},
Module: {
ctor: function Module(p){
  if(p)for(var ks=Object.keys(p),i=0;i<ks.length;++i)if(p[ks[i]]!=null&&ks[i]!=="__proto__")
  this[ks[i]]=p[ks[i]]
},
encode: function Module$encode(m,w,q){
  if(!w)
  w=Writer.create()
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  if(m.name!=null&&Object.hasOwnProperty.call(m,"name"))
  w.uint32(10).string(m.name)
  if(m.path!=null&&Object.hasOwnProperty.call(m,"path"))
  w.uint32(18).string(m.path)
  if(m.sha256!=null&&Object.hasOwnProperty.call(m,"sha256"))
  w.uint32(26).string(m.sha256)
  return w
},
decode: function Module$decode(r,l,e,n){
  if(!(r instanceof Reader))
  r=Reader.create(r)
  if(n===undefined)n=0
  if(n>Reader.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var c,m
  if(l===undefined)
  c=r.len
  else{
  c=r.pos+l
  if(c>r.len)
  throw RangeError("index out of range")
  l=r.len
  r.len=c
  }
  m=new this.ctor
  while(r.pos<c){
  var t=r.uint32()
  if(t===e)
  break
  switch(t>>>3){
  case 1: {
  m.name=r.string()
  break
  }
  case 2: {
  m.path=r.string()
  break
  }
  case 3: {
  m.sha256=r.string()
  break
  }
  default:
  r.skipType(t&7,n)
  break
  }
  }
  if(l!==undefined){
  if(r.pos!==c)
  throw RangeError("index out of range")
  r.len=l
  }
  return m
},
fromObject: function Module$fromObject(d,n){
  if(d instanceof this.ctor)
  return d
  if(!util.isObject(d))
  throw TypeError(".svc.agent.v1.Module: object expected")
  if(n===undefined)n=0
  if(n>util.recursionLimit)
  throw Error("maximum nesting depth exceeded")
  var m=new this.ctor
  if(d.name!=null){
  m.name=String(d.name)
  }
  if(d.path!=null){
  m.path=String(d.path)
  }
  if(d.sha256!=null){
  m.sha256=String(d.sha256)
  }
  return m
},
toObject: function Module$toObject(m,o,q){
  if(!o)
  o={}
  if(q===undefined)q=0
  if(q>util.recursionLimit)
  throw Error("max depth exceeded")
  var d={}
  if(o.defaults){
  d.name=""
  d.path=""
  d.sha256=""
  }
  if(m.name!=null&&Object.hasOwnProperty.call(m,"name")){
  d.name=m.name
  }
  if(m.path!=null&&Object.hasOwnProperty.call(m,"path")){
  d.path=m.path
  }
  if(m.sha256!=null&&Object.hasOwnProperty.call(m,"sha256")){
  d.sha256=m.sha256
  }
  return d
}
}
};
