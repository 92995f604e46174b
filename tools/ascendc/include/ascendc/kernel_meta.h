// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// Records in which a program states the types of its kernels to the vendor's runtime, in sections of the object. They
// have no effect here: the type of a kernel is that of its code (docs/ascendc.md).
enum FuncMetaType { F_TYPE_KTYPE = 1, F_TYPE_CROSS_CORE_SYNC = 2, F_TYPE_MIX_TASK_RATION = 3, F_TYPE_MAX };
enum {
  K_TYPE_AICORE = 1,
  K_TYPE_AIC = 2,
  K_TYPE_AIV = 3,
  K_TYPE_MIX_AIC_MAIN = 4,
  K_TYPE_MIX_AIV_MAIN = 5,
  K_TYPE_AIC_ROLLBACK = 6,
  K_TYPE_AIV_ROLLBACK = 7,
  K_TYPE_MAX
};
enum { C_TYPE_USE_SYNC = 1, C_TYPE_MAX };
struct BaseTlv {
  unsigned short type, len;
};
struct FunMetaKType {
  BaseTlv head;
  unsigned int ktype;
};
struct FunMetaCrossCoreType {
  BaseTlv head;
  unsigned int usedCrossCoreSync;
};
struct FunMetaMixCoreType {
  BaseTlv head;
  unsigned short taskRation0, taskRation1;
};
struct FunLevelKType {
  FunMetaKType ktypeMeta;
};
struct FunLevelCrossCoreType {
  FunMetaKType ktypeMeta;
  FunMetaCrossCoreType crossCoreType;
};
struct FunLevelMixCoreType {
  FunMetaKType ktypeMeta;
  FunMetaMixCoreType mixCoreType;
};
