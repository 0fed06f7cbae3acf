/* What only the C compiler can say of an MPI: its handles and sentinels, which mpi.h gives as macros. */
#include <mpi.h>
#include <stddef.h>

const MPI_Comm mpress_COMM_WORLD = MPI_COMM_WORLD;
const MPI_Comm mpress_COMM_SELF = MPI_COMM_SELF;
const MPI_Comm mpress_COMM_NULL = MPI_COMM_NULL;
const MPI_Request mpress_REQUEST_NULL = MPI_REQUEST_NULL;
const MPI_Message mpress_MESSAGE_NULL = MPI_MESSAGE_NULL;
const MPI_Message mpress_MESSAGE_NO_PROC = MPI_MESSAGE_NO_PROC;
const MPI_Datatype mpress_DATATYPE_NULL = MPI_DATATYPE_NULL;
const MPI_Datatype mpress_BYTE = MPI_BYTE;
const MPI_Datatype mpress_UINT64 = MPI_UINT64_T;
const MPI_Datatype mpress_INT32 = MPI_INT32_T;
const MPI_Errhandler mpress_ERRORS_RETURN = MPI_ERRORS_RETURN;
const MPI_Info mpress_INFO_NULL = MPI_INFO_NULL;
const MPI_Op mpress_MIN = MPI_MIN;
const MPI_Op mpress_SUM = MPI_SUM;
void *const mpress_BOTTOM = MPI_BOTTOM;
void *const mpress_IN_PLACE = MPI_IN_PLACE;
MPI_Status *const mpress_STATUS_IGNORE = MPI_STATUS_IGNORE;
MPI_Status *const mpress_STATUSES_IGNORE = MPI_STATUSES_IGNORE;

const int mpress_ANY_SOURCE = MPI_ANY_SOURCE;
const int mpress_ANY_TAG = MPI_ANY_TAG;
const int mpress_TAG_UB = MPI_TAG_UB;
const int mpress_PROC_NULL = MPI_PROC_NULL;
const int mpress_UNDEFINED = MPI_UNDEFINED;
const int mpress_KEYVAL_INVALID = MPI_KEYVAL_INVALID;
const int mpress_COMM_TYPE_SHARED = MPI_COMM_TYPE_SHARED;
const int mpress_THREAD_MULTIPLE = MPI_THREAD_MULTIPLE;
const int mpress_SUCCESS = MPI_SUCCESS;
const int mpress_ERR_TRUNCATE = MPI_ERR_TRUNCATE;
const int mpress_ERR_IN_STATUS = MPI_ERR_IN_STATUS;
const int mpress_ERR_PENDING = MPI_ERR_PENDING;
const int mpress_ERR_OTHER = MPI_ERR_OTHER;
const int mpress_ERR_REQUEST = MPI_ERR_REQUEST;
const int mpress_ERR_INTERN = MPI_ERR_INTERN;
const int mpress_ERR_NO_MEM = MPI_ERR_NO_MEM;
const int mpress_COMBINER_NAMED = MPI_COMBINER_NAMED;
const int mpress_COMBINER_DUP = MPI_COMBINER_DUP;
const int mpress_COMBINER_CONTIGUOUS = MPI_COMBINER_CONTIGUOUS;

/* Element kinds, as mpress_codec::Kind numbers them. */
enum { OTHER = 0, INT8 = 1, F32 = 5, F64 = 6 };
#define INTEGER(bytes) ((bytes) == 1 ? 1 : (bytes) == 2 ? 2 : (bytes) == 4 ? 3 : (bytes) == 8 ? 4 : OTHER)

/* Predefined datatypes and their kind. Which of them are contiguous is asked of the MPI at run time. */
const struct {
  MPI_Datatype type;
  int kind;
} mpress_predefined[] = {
    {MPI_BYTE, OTHER},
    {MPI_PACKED, OTHER},
    {MPI_CHAR, INT8},
    {MPI_SIGNED_CHAR, INT8},
    {MPI_UNSIGNED_CHAR, INT8},
    {MPI_WCHAR, INTEGER(sizeof(wchar_t))},
    {MPI_SHORT, INTEGER(sizeof(short))},
    {MPI_UNSIGNED_SHORT, INTEGER(sizeof(short))},
    {MPI_INT, INTEGER(sizeof(int))},
    {MPI_UNSIGNED, INTEGER(sizeof(int))},
    {MPI_LONG, INTEGER(sizeof(long))},
    {MPI_UNSIGNED_LONG, INTEGER(sizeof(long))},
    {MPI_LONG_LONG, INTEGER(sizeof(long long))},
    {MPI_UNSIGNED_LONG_LONG, INTEGER(sizeof(long long))},
    {MPI_INT8_T, INTEGER(1)},
    {MPI_UINT8_T, INTEGER(1)},
    {MPI_INT16_T, INTEGER(2)},
    {MPI_UINT16_T, INTEGER(2)},
    {MPI_INT32_T, INTEGER(4)},
    {MPI_UINT32_T, INTEGER(4)},
    {MPI_INT64_T, INTEGER(8)},
    {MPI_UINT64_T, INTEGER(8)},
    {MPI_AINT, INTEGER(sizeof(MPI_Aint))},
    {MPI_OFFSET, INTEGER(sizeof(MPI_Offset))},
    {MPI_COUNT, INTEGER(sizeof(MPI_Count))},
    {MPI_C_BOOL, INT8},
    {MPI_CXX_BOOL, INT8},
    {MPI_FLOAT, F32},
    {MPI_DOUBLE, F64},
    {MPI_LONG_DOUBLE, OTHER},
    {MPI_C_FLOAT_COMPLEX, F32},
    {MPI_C_DOUBLE_COMPLEX, F64},
    {MPI_C_LONG_DOUBLE_COMPLEX, OTHER},
    {MPI_CXX_FLOAT_COMPLEX, F32},
    {MPI_CXX_DOUBLE_COMPLEX, F64},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, OTHER},
    {MPI_FLOAT_INT, OTHER},
    {MPI_DOUBLE_INT, OTHER},
    {MPI_LONG_INT, OTHER},
    {MPI_SHORT_INT, OTHER},
    {MPI_2INT, INTEGER(sizeof(int))},
    {MPI_LONG_DOUBLE_INT, OTHER},
    {MPI_CHARACTER, INT8},
    {MPI_LOGICAL, INTEGER(4)},
    {MPI_INTEGER, INTEGER(4)},
    {MPI_REAL, F32},
    {MPI_DOUBLE_PRECISION, F64},
    {MPI_COMPLEX, F32},
    {MPI_DOUBLE_COMPLEX, F64},
    {MPI_INTEGER1, INTEGER(1)},
    {MPI_INTEGER2, INTEGER(2)},
    {MPI_INTEGER4, INTEGER(4)},
    {MPI_INTEGER8, INTEGER(8)},
    {MPI_REAL4, F32},
    {MPI_REAL8, F64},
    {MPI_COMPLEX8, F32},
    {MPI_COMPLEX16, F64},
    {MPI_2INTEGER, INTEGER(4)},
    {MPI_2REAL, F32},
    {MPI_2DOUBLE_PRECISION, F64},
};
const int mpress_predefined_count = sizeof mpress_predefined / sizeof mpress_predefined[0];
